package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/workers/scenario"
)

// What a mistake costs is no promise that was kept: it has a mark of its own, with colours
// and without, and is not counted among those that hold.
func TestHarmIsNoPromiseKept(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for _, plain := range []bool{false, true} {
			s, _ := theatreAt(t, "", size[0], size[1])
			if plain {
				s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
			}
			s.press("enter")
			pic := crashPicture(scenario.Waiting, 1)
			pic.Steps[0].Assertions = append(pic.Steps[0].Assertions, scenario.AssertionPicture{Text: "ann is charged twice", Harm: true, State: scenario.Passed})
			s.stands(pic)
			s.sees("1 of 4 hold, harm 1 of 1", "▲ harm", "▲ ann is charged twice")
			s.seesNot("✓ ann")
			pic = failedPicture()
			pic.Steps[1].Assertions[0].Harm = true
			s.stands(pic)
			s.seesNot("promised")
		}
	}
}

// However little room there is, what the play looks for now is in sight.
func TestAwaitedAssertionIsInSight(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {60, 20}} {
		for at := range 5 {
			pic := redrivePicture()
			step := &pic.Steps[1]
			step.Assertions = nil
			for i := range 5 {
				a := scenario.AssertionPicture{Text: fmt.Sprintf("thing %d is seen", i), Within: time.Second}
				if i < at {
					a.State = scenario.Passed
				} else if i == at {
					a.State = scenario.Playing
				}
				step.Assertions = append(step.Assertions, a)
			}
			s, _ := theatreAt(t, "", size[0], size[1])
			s.press("enter")
			s.stands(pic)
			s.sees(fmt.Sprintf("◌ thing %d is seen", at))
		}
	}
}

// redrivePicture has bars that leave little room for anything else.
func redrivePicture() scenario.Picture {
	pic := racePicture()
	for i := range pic.Bars {
		pic.Bars[i].Note = "of one customer"
	}
	pic.Bars = append(pic.Bars, pic.Bars[0])
	return pic
}

// Of the harm that a play was to show some is in sight at its end, however little room there is.
func TestHarmIsInSightAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {60, 20}} {
		for at := range 6 {
			pic := redrivePicture()
			pic.State, pic.Ended, pic.Step = scenario.Passed, noon.Add(9*time.Second), len(pic.Steps)-1
			for i := range pic.Steps {
				step := &pic.Steps[i]
				step.State, step.Assertions = scenario.Passed, nil
				for k := range 2 {
					step.Assertions = append(step.Assertions, scenario.AssertionPicture{Text: fmt.Sprintf("thing %d is seen", 2*i+k), Harm: 2*i+k == at, State: scenario.Passed})
				}
			}
			s, _ := theatreAt(t, "", size[0], size[1])
			s.press("enter")
			s.stands(pic)
			s.sees(fmt.Sprintf("▲ thing %d is seen", at))
		}
	}
}
