package ui

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// What is not known does not pass for kept.
func TestInvariantsOfAPlayThatAreNotCountedHaveNoTick(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80} {
		s, _ := theatreAt(t, "", width, pick(width == 80, 24, 36))
		s.press("enter")
		pic := crashPicture(scenario.Waiting, 1)
		pic.Invariants.Missed, pic.Invariants.Counted = true, s.app.pic.local.Add(-time.Second)
		s.stands(pic)
		s.sees("✓ lost 0")
		pic.Invariants.Counted = s.app.pic.local.Add(-12 * time.Second)
		s.stands(pic)
		s.sees("not counted for 12s · before: lost 0 · " + pick(width == 80, "doubled 0", "double effects 0"))
		s.seesNot("✓ lost")
		pic.State, pic.Ended = scenario.Failed, noon
		s.stands(pic)
		s.sees("not counted at the end · before: lost 0")
	}
}

// The reapers of others may be first to take a lease of a play back: then how soon that was
// is not known here, and the line says why it has no figure of it.
func TestRecoveryByStrangersIsSaid(t *testing.T) {
	t.Parallel()
	for _, width := range []int{120, 80} {
		s, _ := theatreAt(t, "", width, pick(width == 80, 24, 36))
		s.press("enter")
		pic := crashPicture(scenario.Waiting, 2)
		s.stands(pic)
		s.seesNot("recover")
		pic.Events = append(pic.Events, scenario.Event{At: noon, What: workers.ReapedBack, Text: "job 133: lease lost by w1, back to pending after attempt 1"})
		s.stands(pic)
		s.sees("✓ overlap", "recovered by another reaper")
		pic.Invariants.Recovery = workers.Recovery{Judged: 1, Worst: 121 * time.Millisecond}
		s.stands(pic)
		s.sees("worst recovery 2.13 s")
		s.seesNot("another reaper")
	}
}
