package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
)

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

// While a step does what it says, and nothing is looked for yet, it is told what will be.
func TestViewerIsToldWhatToLookFor(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80} {
		s, _ := theatreAt(t, "", width, pick(width == 80, 24, 36))
		s.press("enter")
		pic := crashPicture(scenario.Playing, 2)
		step := &pic.Steps[2]
		step.Name = "w2 finishes both"
		for _, one := range []struct {
			states [2]scenario.State
			want   string
		}{
			{[2]scenario.State{}, "soon: both jobs are completed"},
			{[2]scenario.State{scenario.Playing}, "WATCH   both jobs are completed"},
			{[2]scenario.State{scenario.Passed}, "soon: the orphan at its second attempt"},
			{[2]scenario.State{scenario.Passed, scenario.Passed}, "WATCH   w2 finishes both"},
		} {
			step.Assertions = slices.Clone(step.Assertions)
			for i, state := range one.states {
				step.Assertions[i].State = state
			}
			s.stands(pic)
			s.sees(one.want)
		}
		step.Assertions = nil
		s.stands(pic)
		s.sees("WATCH   w2 finishes both")
		s.seesNot("this is being done")
	}
}
