package lanes

import (
	"testing"
	"time"
)

// While the server is away workers may go on with what they hold, and claim nothing: the
// picture has a band there, from top to bottom.
func TestAnOutageIsABandAcrossAllLanes(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3").pass(5).claim(1, "w1", 1).pass(3)
	from := s.now
	s.hung["w1"] = true // nobody's heartbeat arrives
	s.turn("w3", "crashed")
	s.Away([]Outage{{Text: "the server is away", From: from}})
	s.pass(2)
	if gaps := s.Draw(s.now, 30*time.Second, 30, 5).Outages; len(gaps) != 1 || !gaps[0].Goes || gaps[0].Took != 2*time.Second {
		t.Errorf("as it goes on it is %+v", gaps)
	}
	s.Away([]Outage{{Text: "the server is away", From: from, To: s.now.Add(-time.Millisecond)}})
	s.hung["w1"] = false
	s.pass(3).finish(1).pass(2)
	s.draws(`
	w1               ·····AAAAAAAA···|
	w2               ········▒▒······|
	w3               ········✗       |
	`)
	d := s.Draw(s.now, 30*time.Second, 30, 5)
	if want := (Gap{Text: "the server is away", First: 22, Last: 23, Took: 2*time.Second - time.Millisecond}); len(d.Outages) != 1 || d.Outages[0] != want {
		t.Errorf("it is %+v, not %+v", d.Outages, want)
	}
}

func TestAnOutageLeavesThePictureWithItsTime(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(3)
	s.Away([]Outage{{Text: "\x1b[2J", From: s.now.Add(-time.Second), To: s.now}, {From: s.now.Add(time.Second)}})
	for _, c := range []struct {
		after time.Duration
		gaps  int
	}{{0, 1}, {9 * time.Second, 2}, {20 * time.Second, 1}} {
		now := s.now.Add(c.after)
		d := s.Draw(now, 10*time.Second, 10, 2)
		if len(d.Outages) != c.gaps || s.Interrupted(now, 10*time.Second) != (c.gaps > 0) {
			t.Errorf("%v later there are %d outages, not %d", c.after, len(d.Outages), c.gaps)
		}
	}
	if text := s.Draw(s.now, 10*time.Second, 10, 2).Outages[0].Text; text != "␛[2J" {
		t.Errorf("it says %q", text)
	}
}
