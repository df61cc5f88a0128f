package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// Neighbours that say the same of several jobs are one line, and errors their first clause.
func TestEventsOfAPlayAreFolded(t *testing.T) {
	t.Parallel()
	var events []scenario.Event
	add := func(worker string, what workers.What, text string) {
		events = append(events, scenario.Event{At: noon, Worker: worker, What: what, Text: text})
	}
	for i := range 20 {
		add("", workers.ReapedBack, fmt.Sprintf("job %d: lease lost by w1, back to pending after attempt 1", 240+i))
	}
	add("", workers.ReapedBack, "job 300: lease lost by w2, back to pending after attempt 1")
	for i := range 3 {
		add("w3", workers.LeaseLost, fmt.Sprintf("lease of job %d lost: now pending", i))
	}
	for range 2 {
		add("", workers.DBTrouble, "claims fail: claim: "+errNoPlay.Error())
	}
	add("", "", "38 enqueues were not acknowledged: enqueue: connect to /tmp/.s.PGSQL.5432")
	add("", "", "plan 1: redrive 200 dead letters, 5 first")
	var told []string
	for _, e := range fold(events) {
		_, _, text := e.told()
		told = append(told, text)
	}
	want := []string{
		"20 × lease lost by w1, back to pending after attempt 1",
		"job 300: lease lost by w2, back to pending after attempt 1",
		"w3 · lease of jobs 0, 1, 2 lost: now pending",
		"database · 2 × claims fail",
		"38 enqueues were not acknowledged",
		"plan 1: redrive 200 dead letters, 5 first",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told:\n%s\nnot\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// Where there is little room, what decides the story is told, whole and in order of time,
// and how much is not.
func TestEventsAreChosenByWeight(t *testing.T) {
	t.Parallel()
	const decides = "plan 1 is stopped: 5 of 5 that ended died again, and it was to stop at 1: the other 195 were not touched"
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		pic := crashPicture(scenario.Playing, 1)
		pic.Steps[0].Began = noon
		add := func(after time.Duration, worker string, what workers.What, text string) {
			pic.Events = append(pic.Events, scenario.Event{At: noon.Add(after), Worker: worker, What: what, Text: text})
		}
		add(2*time.Second, "", "", decides)
		for i := range 30 {
			add(3*time.Second, fmt.Sprintf("w%d", i), []workers.What{workers.TrustEnded, workers.DrainBegun, workers.Spawned, workers.LeaseLost}[i%4], "chatter")
		}
		for _, state := range []scenario.State{scenario.Playing, scenario.Passed} {
			if pic.State = state; state == scenario.Passed {
				pic.Ended = noon.Add(9 * time.Second)
			}
			s.stands(pic)
			screen := s.screen().Text()
			i := strings.Index(screen, "EVENTS +")
			if i < 0 {
				t.Fatalf("it is not said that some are left out:\n%s", screen)
			}
			var told []string
			for _, line := range strings.Split(screen[i:], "\n")[1:] {
				cells := strings.Split(line, "│")
				told = append(told, strings.Fields(cells[max(len(cells)-2, 0)])...)
			}
			if all := strings.Join(told, " "); !strings.Contains(all, decides) {
				t.Errorf("%v: what decides the story is not told whole:\n%s", size, screen)
			}
		}
	}
}

// What a story says itself has room before all else; of what means as much, a shorter event
// takes the lines that are left, and nothing that means less does.
func TestLinesOfEventsAreNotWasted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  []workers.What
		lines []int
		h     int
		want  []int
	}{
		{[]workers.What{"", workers.ReapedBack}, []int{1, 2}, 2, []int{0}},
		{[]workers.What{"", "", ""}, []int{1, 2, 2}, 3, []int{0, 2}},
		{[]workers.What{workers.Spawned, "", workers.DBTrouble}, []int{1, 2, 1}, 2, []int{1}},
		{[]workers.What{workers.DBTrouble, "", ""}, []int{1, 2, 2}, 3, []int{2}},
		{[]workers.What{"", workers.Spawned}, []int{1, 1}, 2, []int{0, 1}},
		{[]workers.What{workers.Spawned}, []int{3}, 1, []int{0}},
		{nil, nil, 1, nil},
	} {
		var all []playEvent
		for _, what := range c.what {
			all = append(all, playEvent{what: what})
		}
		if got := choose(all, func(i int) int { return c.lines[i] }, c.h); !slices.Equal(got, c.want) {
			t.Errorf("%q of %v lines in %d: %v are told, not %v", c.what, c.lines, c.h, got, c.want)
		}
	}
}

// A job is lost before it is taken over, in whatever order one look found it, and no later;
// another job's loss stays where it is. The times are those of the order.
func TestTakeOverIsToldAfterTheLoss(t *testing.T) {
	t.Parallel()
	event := func(ms int, worker string, what workers.What, text string) scenario.Event {
		return scenario.Event{At: noon.Add(time.Duration(ms) * time.Millisecond), Worker: worker, What: what, Text: text}
	}
	events := causesFirst([]scenario.Event{
		event(0, "w1", workers.Killed, "1 job abandoned"),
		event(2000, "w2", "", "takes job 7 over: its second attempt"),
		event(2010, "", workers.ReapedBack, "job 7: lease lost by w1"),
		event(2020, "w1", workers.LeaseLost, "lease of job 7 lost"),
		event(2030, "", workers.ReapedBack, "job 77: lease lost by w1"),
		event(4000, "", workers.ReapedBack, "job 7: lease lost by w2"),
		event(5000, "w2", "", "takes all 20 over: their second attempt"),
		event(5100, "", workers.ReapedBack, "job 8: lease lost by w1"),
	})
	var told []string
	for i, e := range events {
		if i > 0 && e.At.Before(events[i-1].At) {
			t.Errorf("%q has an earlier time than what is told before it", e.Text)
		}
		told = append(told, fmt.Sprint(e.At.Sub(noon).Milliseconds(), " ", e.Text))
	}
	if want := []string{
		"0 1 job abandoned",
		"2000 job 7: lease lost by w1",
		"2000 lease of job 7 lost",
		"2000 takes job 7 over: its second attempt",
		"2030 job 77: lease lost by w1",
		"4000 job 7: lease lost by w2",
		"5000 job 8: lease lost by w1",
		"5000 takes all 20 over: their second attempt",
	}; !slices.Equal(told, want) {
		t.Errorf("told:\n%s\nnot\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// Where there is little room nothing is told of workers that were added.
func TestAddedWorkersGoFirstFromEvents(t *testing.T) {
	t.Parallel()
	pic := crashPicture(scenario.Playing, 1)
	pic.Steps[0].Began = noon
	for i := range 20 {
		pic.Events = append(pic.Events, scenario.Event{At: noon.Add(time.Second), Worker: fmt.Sprintf("w%d", i), What: workers.Spawned, Text: "1 slot"})
	}
	pic.Events = append([]scenario.Event{{At: noon.Add(time.Second), Text: "the cable is cut"}}, pic.Events...)
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.stands(pic)
	s.sees("the cable is cut")
	s.seesNot("1 slot")
}

// Whose the invariants are is said where not all keep them, and no recovery where none was.
func TestInvariantsOfAPlaySayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80} {
		s, _ := theatreAt(t, "", width, pick(width == 80, 24, 36))
		s.press("enter")
		pic := crashPicture(scenario.Playing, 1)
		s.stands(pic)
		s.seesNot("recovery –", "with protection")
		pic.Invariants.Exempt, pic.Invariants.Recovery = true, workers.Recovery{Judged: 1, Worst: 121 * time.Millisecond}
		s.stands(pic)
		s.sees("INVARIANTS with protection:", "recovery 2.13 s")
	}
}

// Short times beside assertions would be taken for how long the thing took: they are of
// the look at it.
func TestTimesOfLooksAreNotShown(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := crashPicture(scenario.Waiting, 1)
	pic.Steps[0].Took = 2 * time.Second
	pic.Steps[0].Assertions[0].Took = 9900 * time.Microsecond
	s.stands(pic)
	s.seesNot("9.9 ms")
	pic.Steps[0].Assertions[0].Took = tookTime
	s.stands(pic)
	s.sees("10 ms")
}

// What one look found of a few jobs is one line that names them all, though what befell each
// of them stands between; of one and the same job nothing is moved.
func TestEventsOfAFewJobsNameThemAll(t *testing.T) {
	t.Parallel()
	event := func(ms int, worker string, what workers.What, text string) scenario.Event {
		return scenario.Event{At: noon.Add(time.Duration(ms) * time.Millisecond), Worker: worker, What: what, Text: text}
	}
	var told []string
	for _, e := range fold([]scenario.Event{
		event(0, "", workers.ReapedBack, "job 291: lease lost by w1, back to pending"),
		event(10, "w2", "", "takes job 291 over: its second attempt"),
		event(20, "", workers.ReapedBack, "job 292: lease lost by w1, back to pending"),
		event(30, "w2", "", "takes job 292 over: its second attempt"),
		event(500, "w2", workers.Killed, "1 job abandoned"),
		event(600, "", workers.ReapedBack, "job 292: lease lost by w2, back to pending"),
		event(700, "w3", "", "takes job 292 over: its third attempt"),
		event(5000, "", workers.ReapedBack, "job 300: lease lost by w1, back to pending"),
	}) {
		glyph, _, text := e.told()
		told = append(told, glyph+" "+text)
	}
	want := []string{
		"↩ jobs 291, 292: lease lost by w1, back to pending",
		"▸ w2 takes jobs 291, 292 over: their second attempt",
		"✗ w2 killed · 1 job abandoned",
		"↩ job 292: lease lost by w2, back to pending",
		"▸ w3 takes job 292 over: its third attempt",
		"↩ job 300: lease lost by w1, back to pending",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told:\n%s\nnot\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}
