package ui

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
)

func TestFreezingThePictureLeavesTheFeed(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("p")
	before := s.screen().Text()
	s.bury(90001)
	s.pass(2 * time.Second)
	s.pull()
	if after := s.screen().Text(); after != before {
		t.Errorf("the frozen picture moved to\n%s", after)
	}
	s.sees("‖ PICTURE FROZEN 12:04:31Z")
	s.press("p")
	s.sees("LIVE", "90001")
}

// A stream that has gone silent, but is not known to be lost: what it keeps is marked,
// and what the others bring is not.
func TestFiguresOfASilentStreamAreMarkedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		s := newStage(t, newWorld(), size[0], size[1])
		s.seesNot("stale:", "STALE")
		s.pass(4 * time.Second)
		s.state.Pauses.Read = s.now
		s.pull()
		s.sees("WAL", "! STALE 4s", "QUEUES 3 ", "LEASES 7 ")
		s.seesNot("LIVE")
		for heading, stale := range map[string]bool{"QUEUES 3": true, "LEASES 7": true, "EVENTS": true, "DEAD LETTERS 40": false} {
			note := regexp.MustCompile(heading + ` ─*( stale: 4s old)?`).FindStringSubmatch(s.screen().Text())
			if len(note) != 2 || (note[1] != "") != stale {
				t.Errorf("%v: the heading is %q", size, note)
			}
		}
	}
}

// As long as notifications arrive, dead letters read long ago are those of now; not
// when a newer reading is owed, or nobody can tell.
func TestDeadLettersAreAsOldAsWhatIsNotKnownOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Dead.Read = noon.Add(-time.Hour)
	s := newStage(t, w, 120, 36)
	s.seesNot("stale:")
	w.state.Dead.Owed = noon.Add(-2 * time.Second)
	s.pull()
	s.seesNot("stale:")
	w.state.Dead.Owed = noon.Add(-5 * time.Second) // by a signal, or because of it
	s.pull()
	s.sees("stale: 5s old")
	w.state.Dead.Owed = time.Time{}
	silent(&w.state.Notify, 4*time.Second, "no answer: the connection is replaced")
	s.pull()
	s.sees("stale: 4s old", "NOTIFY ✗", "no NOTIFY, so dead letters are polled: no answer")
	w.state.Dead.Source, w.state.Dead.Read = watch.Polled, noon
	s.pull()
	s.sees("newest first · polled")
	s.seesNot("stale:")
}

// A poll that works, but slowly: its figures are not passed for the present before
// the next are there, and the help says in words what the header says by marks.
func TestFiguresOfASlowPollSayTheirAge(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ w, h int }{{80, 24}, {120, 36}} {
		w := newWorld()
		polled(w.state, noStream)
		w.state.Polling.Lag, w.state.Every = 3*time.Second, 9*time.Second
		s := newStage(t, w, size.w, size.h)
		s.sees("POLL ~ ! 3s", "● LIVE", "polled, up to 9s apart", "expiring first · polled")
		s.pass(4 * time.Second)
		s.sees("POLL ~ ! 3s", "! STALE 4s", "stale: 4s old")
		s.seesNot("LIVE")
		s.press("?")
		s.sees("KEYS") // it knows its length once it was drawn
		s.press("G")
		s.sees("polled, up to 9s apart", "· 4s old", "slow: the last reading took 3s")
	}
}

// A connection that is only being made is no alarm, and no news for a while.
func TestAttachingIsNoAlarm(t *testing.T) {
	t.Parallel()
	w := newWorld()
	polled(w.state, "")
	w.state.WAL = watch.Link{Since: noon, Attaching: true, Reason: "attaching: 4,096 jobs read"}
	s := newStage(t, w, 100, 30)
	s.sees("POLL ~  WAL …", "● LIVE")
	s.seesNot("attaching", "! no", "WAL ✗")
	w.state.WAL.Attaching, w.state.WAL.Reason = false, noStream
	s.pull()
	s.sees("WAL ✗") // but a line that might go at once is not worth the jump
	s.seesNot("! no")
	w.state.WAL = watch.Link{Since: noon, Attaching: true, Reason: "attaching: 4,096 jobs read"}
	s.now = s.now.Add(2500 * time.Millisecond)
	s.state.Depths.Read, s.state.Leases.Read = s.now, s.now
	s.pull()
	s.sees(" … WAL attaching: 4,096 jobs read")
	w.state.WAL = watch.Link{Since: noon, Reason: noStream}
	s.pull()
	s.sees("WAL ✗", "! no WAL: wal_level is replica: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL")
	s.seesNot("attaching")
}

// Without the stream the poll brings the counts, with it pauses and little else.
func TestALostPollHurtsOnlyWhatIsPolled(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.pause(emailsPaused)
	silent(&w.state.Polling, 12*time.Second, "connection refused")
	w.state.Pauses.Read = noon.Add(-12 * time.Second)
	s := newStage(t, w, 120, 36)
	s.sees("● LIVE", "poll ✗", "! no poll, so pauses and health are not read: connection refused", "paused 5m03s by ann@shop1", "as of 12s ago")
	s.seesNot("stale:", "STALE")

	w = newWorld()
	polled(w.state, noStream)
	silent(&w.state.Polling, 2*time.Second, "connection refused")
	s = newStage(t, w, 120, 36)
	s.sees("! STALE", "POLL ~ ✗", "! no poll, so nothing is fresh: connection refused · and 1 more, see ?")
	s.seesNot("LIVE")
}

// The demonstration's counts are read by themselves, every two seconds.
func TestOldInvariantsAreMarked(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.pass(5 * time.Second)
	s.seesNot(" s · stale")
	s.pass(time.Second)
	s.sees("double effects 0 ", "recovery 6.13 s · stale: 6s old")
	s.send(ledgerMsg{err: errors.New("connection refused")})
	s.sees("stale: 6s old")
	s.send(ledgerMsg{ledger: *s.stats})
	s.seesNot(" s · stale")
}

// The moment nothing is connected any more nothing is live, however fresh it still looks.
func TestNothingIsLiveWithoutAConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	silent(&w.state.WAL, 0, "connection reset by peer")
	s := newStage(t, w, 120, 36)
	s.sees("● LIVE") // the poll takes over
	silent(&w.state.Polling, 0, "connection refused")
	s.pull()
	s.sees("! STALE ")
	s.seesNot("LIVE")
}

// Of jobs in processing, too, a poll counts only so many.
func TestLowerBoundOfRunningJobsIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld()
	polled(w.state, noStream)
	q := &w.state.Depths.Queues[0]
	q.Processing, q.Dead, q.AtLeast.Processing, q.AtLeast.Dead = 100_000, 100_000, true, true
	w.state.Leases.Total, w.state.Leases.Capped = 100_003, true
	for _, size := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}} {
		screen := newStage(t, w, size[0], size[1]).screen().Text()
		for _, want := range []string{`emails +1,204 +310 +100(k|,000|\.0k)\+ .* 7 +100(k|,000)\+ `, `total +\S+ +319 +100(k|,003|\.0k)\+ .* 7 +100(k|,002)\+ `, `LEASES 100,003\+ `} {
			if !regexp.MustCompile(want).MatchString(screen) {
				t.Errorf("nothing like %q on\n%s", want, screen)
			}
		}
	}
}

// Rates that nobody knows are no noughts, and a sum that lacks some says so.
func TestUnknownRatesAreNoNoughts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	polled(w.state, noStream)
	screen := newStage(t, w, 120, 36).screen().Text()
	for _, row := range []string{`reports +50k\+ +9 +0 +0 +0 41m02s +– +– `, `total .* 43\.2\+ +41\.9\+ `} {
		if !regexp.MustCompile(row).MatchString(screen) {
			t.Errorf("no row like %q on\n%s", row, screen)
		}
	}
	if !strings.Contains(screen, "need the WAL stream") || strings.Contains(screen, "0.4/min") {
		t.Errorf("what only the stream knows is not left out with a word:\n%s", screen)
	}
}

// A sample that came across none is no count of none.
func TestEstimateOfNoneIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Depths.Queues[1].Completed, w.state.Depths.Queues[1].CompletedExact = 0, false
	for _, size := range []struct{ w, h int }{{80, 24}, {200, 50}} {
		row := regexp.MustCompile(`images +12 +0 +3 +(\S+) +0 `).FindStringSubmatch(newStage(t, w, size.w, size.h).screen().Text())
		if len(row) != 2 || row[1] != "~0" {
			t.Errorf("%d×%d: the row is %q", size.w, size.h, row)
		}
	}
}

var negative = regexp.MustCompile(`-\d+(s|m\d\ds|h\d\dm|d)\b|-\d\d:\d\d`)

func TestAgesAreNeverNegative(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		w := newWorld()
		w.now = noon.Add(-skew) // this machine is off by skew
		w.state.Depths.Read, w.state.Leases.Read, w.state.Dead.Read, w.state.Pauses.Read = w.now, w.now, w.now, w.now
		w.state.Clock = watch.Clock{Skew: skew, Known: true}
		s := newStage(t, w, 120, 36)
		s.sees("00:24", " 4s 88007")
		w.state.Clock.Skew = -time.Hour // and now the database's clock jumps back
		s.pass(0)
		for _, line := range s.screen().Lines()[1:] { // the first line states the skew
			if negative.MatchString(line) {
				t.Errorf("a negative age: %s", line)
			}
		}
	}
}

func TestNothingChangesNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.crew = nil
	w.state.Leases.List, w.state.Leases.Total = nil, 0
	w.state.Dead.Latest, w.state.Dead.Total = nil, 0
	for i := range w.state.Depths.Queues {
		w.state.Depths.Queues[i].OldestReady, w.state.Depths.Queues[i].Ready = 0, 0
	}
	s := newStage(t, w, 120, 36)
	before := s.app.View()
	for range 25 { // within the minute that the clock shows
		s.now = s.now.Add(time.Second)
		state := *w.state
		state.Version++
		state.Depths.Read, state.Leases.Read, state.Pauses.Read = s.now, s.now, s.now
		w.state = &state
		s.send(ledgerMsg{ledger: *w.stats})
		s.pull()
	}
	if after := s.app.View(); after.Content != before.Content {
		t.Errorf("the screen changed although nothing did:\n%s", s.screen().Text())
	}
}
