package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// While the server is away nothing is known of the jobs, and how long it has been so is
// said; afterwards it was.
func TestOutageIsSaidWhereTheWorldIsShown(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		pic := crashPicture(scenario.Playing, 1)
		pic.Steps[1].Assertions[0].State = scenario.Playing
		pic.Looked = s.now.Add(200 * time.Millisecond)
		pic.Outages = []scenario.Outage{{Text: "the server is away", Began: s.now}}
		s.now = s.now.Add(2 * time.Second)
		s.stands(pic)
		s.send(secondMsg{})
		s.sees("WATCH   the server is away for 2.0 s", "the server is away for 2.0 s · as of before", "step 2 of 3")
		pic.State, pic.Steps[1].State = scenario.Waiting, scenario.Waiting
		s.stands(pic)
		s.sees("YOUR TURN   the server is away for 2.0 s", "step 2 of 3")
		pic.Outages[0].Ended, pic.Looked = pic.Outages[0].Began.Add(2500*time.Millisecond), s.now
		s.stands(pic)
		s.sees("the server is away: over, after 2.5 s")
		s.seesNot("as of", "TURN   the server")
		pic = failedPicture() // what did not end is of the world that is gone
		pic.Outages = []scenario.Outage{{Text: "the server is away", Began: noon}}
		s.stands(pic)
		s.seesNot("as of", "FAILED   the server")
	}
}

// What there is of an outage grows older on the screen though nothing new is found.
func TestOutageIsDrawnAnewWhileItGoesOn(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := crashPicture(scenario.Playing, 1)
	pic.Outages = []scenario.Outage{{Text: "the server is away", Began: s.now}}
	s.stands(pic)
	s.screen()
	s.send(playMsg{s.app.plays.now, s.app.plays.now.latest})
	if s.app.frame != "" {
		t.Error("it is not drawn anew")
	}
}

// In a window with little room the jobs are said in a line.
func TestJobsStayInSmallWindows(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 80, 24)
	s.press("enter")
	s.stands(racePicture())
	s.sees("JOBS all: 15,930 pending · 2,070 completed")
	pic := crashPicture(scenario.Playing, 1)
	pic.Depths = []scenario.Depth{{Queue: sampleRun, Pending: 3, Dead: 2}}
	pic.Workers = append(pic.Workers, scenario.Worker{Name: "w3", Slots: 1}, scenario.Worker{Name: "w4", Slots: 1}, scenario.Worker{Name: "w5", Slots: 1})
	pic.Measures[0].State = scenario.Passed
	s.stands(pic)
	s.sees("JOBS 3 pending · 2 dead", "MEASURES", "WHO HOLDS", "ASSERTIONS")
}

// An outage has one clock, also where that of the lanes stands still; no jobs flow meanwhile,
// and what has just begun lasts for no time yet.
func TestOutageHasOneClock(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := crashPicture(scenario.Waiting, 1)
	pic.Flows = true
	pic.Outages = []scenario.Outage{{Text: "the server is away", Began: s.now}}
	s.stands(pic)
	s.sees("TURN   the server is away  ")
	s.seesNot("away for", "0.0 ms")
	for range 12 {
		s.now = s.now.Add(300 * time.Millisecond)
		s.stands(pic)
	}
	s.pass(700 * time.Millisecond)
	s.sees("the lanes stand still")
	s.seesNot("jobs flow on", "s old")
	const one = "the server is away for 3.6 s"
	if screen := s.screen().Text(); strings.Count(screen, one) != 3 || strings.Count(screen, "away for") != 3 {
		t.Errorf("not three times %q on\n%s", one, screen)
	}
	pic.Invariants.Missed = true
	s.stands(pic)
	s.sees("not counted, the server is away")
	pic.Outages, pic.Looked = nil, s.now
	s.stands(pic)
	s.sees("jobs flow on")
}
