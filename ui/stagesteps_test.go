package ui

import (
	"strings"
	"testing"

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

// Somebody who sees a play for the first time reads whose turn it is, and that what is
// told is yet to come.
func TestWaitingPlaySaysThatSpaceDoesWhatIsTold(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80, 60} {
		s, _ := theatreAt(t, "", width, map[int]int{120: 36, 80: 24, 60: 20}[width])
		s.press("enter")
		pic := crashPicture(scenario.Waiting, 1)
		s.stands(pic)
		s.sees("YOUR TURN", "space does ", "next: step 2 of 3 ✓▸·")
		pic.Auto = true
		s.stands(pic)
		s.sees("NEXT", "next: step 2 of 3")
		pic = crashPicture(scenario.Playing, 1)
		pic.Steps[1].Assertions[0].State = scenario.Playing
		pic.Steps[1].Assertions[0].Text = strings.Repeat("what is to be seen ", 10)
		s.stands(pic)
		s.sees("WATCH", " step 2 of 3 ✓▸·")
		s.seesNot("next: step")
	}
}
