package ui

import (
	"strings"
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
)

// Plots of one unit can be compared; what the play waits for does not stop jobs that flow.
func TestPlotsOfOneUnitShareAScale(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := plotPicture()
	pic.Flows = true
	low := scenario.Plot{Name: "another takes", Unit: "ms", Points: []float64{0.1, 4}}
	other := scenario.Plot{Name: "jobs", Unit: "/s", Points: []float64{3, 5}}
	pic.Plots = append(pic.Plots, low)
	s.performs([]scenario.Picture{pic, pic}, waitShown)
	if screen := s.screen().Text(); strings.Count(screen, "40 ms ┤") != 2 {
		t.Errorf("two plots in milliseconds have scales of their own:\n%s", screen)
	}
	pic.Plots[1] = other
	s.stands(pic)
	s.sees("40 ms ┤", "5 /s ┤", "the lanes stand still; jobs flow on")
}

// A race in a small window keeps what is said beside its bars.
func TestNotesOfARaceStay(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 80, 24)
	s.press("enter")
	s.stands(racePicture())
	s.sees("1,615 duplicates", "14.9 of 16 wait", "step 2 of 3")
	pic := racePicture()
	pic.Steps[1].Assertions[0].State = scenario.Playing
	pic.Steps[1].Assertions[0].Text = strings.Repeat("what is to be seen ", 10)
	s.stands(pic)
	s.sees("WATCH", "step 2 of 3")
}
