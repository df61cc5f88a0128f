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

// What a step did stays in sight for a moment: it is told as seen, on the page, in the list
// and beside other pages, and space goes on.
func TestWhatWasSeenIsSaid(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80} {
		s, h := theatreAt(t, "", width, pick(width == 80, 24, 36))
		s.press("enter")
		s.stands(seenPicture())
		s.sees("SEEN", "what step 2 was to show", "We kill w1", " step 2 of 3 ✓✓·", "space read on")
		s.seesNot("next: step", "▸ 3")
		h.asked = nil
		s.press("space")
		if len(h.asked) != 1 || h.asked[0] != "next" {
			t.Errorf("it was asked: %q", h.asked)
		}
		s.press("1")
		s.sees("▶ crash  step 2 of 3  seen")
		s.press("5", "esc")
		s.sees("▶ step 2/3")
	}
}

// A key that is pressed too early is told why it does nothing, as long as that is so.
func TestRefusalGoesWhenItIsTrueNoMore(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	setting := crashPicture(scenario.SettingUp, 0)
	s.stands(setting)
	s.press("space")
	s.sees("! next: the stage is being set")
	s.stands(setting)
	s.sees("! next: the stage is being set")
	s.stands(crashPicture(scenario.Waiting, 0))
	s.seesNot("! next:")
	s.stands(crashPicture(scenario.Playing, 0))
	s.press("space")
	s.sees("! next: step 1 goes on")
	s.stands(crashPicture(scenario.Playing, 1))
	s.seesNot("! next:")
}
