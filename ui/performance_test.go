package ui

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// A job that was claimed as the play began to wait has its letter, not the mark of a short one.
func TestWhatIsHeldWhileThePlayWaitsHasItsLetter(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		s.stands(crashPicture(scenario.Playing, 0))
		s.now = s.now.Add(time.Second)
		pic := crashPicture(scenario.Waiting, 1)
		pic.Runs = []scenario.Run{{ID: 1, Job: 133, Worker: "w1", Attempt: 1, Began: s.now}, {ID: 2, Job: 134, Worker: "w2", Attempt: 1, Began: s.now}}
		s.stands(pic)
		s.sees("A 133 w1", "B 134 w2")
		s.seesNot("▂")
	}
}
