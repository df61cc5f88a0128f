package ui

import (
	"regexp"
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

func TestOldReadingsAreMarked(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.seesNot("stale:", "STALE", " old ")
	s.pass(12 * time.Second)
	s.sees("! STALE 12s", "figures 12s old", "stale: read 12s ago")
	s.seesNot("LIVE")
}

// A poll that works, but slowly: its figures are not passed for the present before
// the next are there, and the help says in words what the header says by marks.
func TestFiguresOfASlowPollSayTheirAge(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ w, h int }{{80, 24}, {120, 36}} {
		w := newWorld()
		w.state.Polling.Lag, w.state.Every = 3*time.Second, 9*time.Second
		s := newStage(t, w, size.w, size.h)
		s.sees("poll ! 3s", "● LIVE")
		s.pass(4 * time.Second)
		s.sees("poll ! 3s", "! STALE 4s", "figures 4s old")
		s.seesNot("LIVE")
		s.press("?")
		s.sees("KEYS") // it knows its length once it was drawn
		s.press("G")
		s.sees("slow: the last reading took 3s", "figures are 4s old", "come up to 9s apart")
		s.seesNot("pauses · ok for")
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

// The stream renews the leases between two polls: slow polls do not make them old.
func TestLeasesOfALiveStreamAreNotOld(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{0, 4 * time.Second} {
		w := newWorld()
		s := newStage(t, w, 120, 36)
		w.state.WAL.Heard, w.state.WAL.Lag = w.state.Leases.Read.Add(5*time.Second), lag
		s.pass(6 * time.Second)
		s.sees("figures 6s old")
		if lag == 0 {
			s.sees("expiring first")
		} else {
			s.sees("stale: read 6s ago")
		}
	}
}

var negative = regexp.MustCompile(`-\d+(s|m\d\ds|h\d\dm|d)\b|-\d\d:\d\d`)

func TestAgesAreNeverNegative(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		w := newWorld()
		w.now = noon.Add(-skew) // this machine is off by skew
		w.state.Depths.Read, w.state.Leases.Read, w.state.Dead.Read = w.now, w.now, w.now
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
		state.Depths.Read, state.Leases.Read = s.now, s.now
		w.state = &state
		s.pull()
	}
	if after := s.app.View(); after.Content != before.Content {
		t.Errorf("the screen changed although nothing did:\n%s", s.screen().Text())
	}
}
