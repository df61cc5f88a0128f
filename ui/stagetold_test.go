package ui

import (
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
