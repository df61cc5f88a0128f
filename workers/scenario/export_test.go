package scenario

import (
	"context"

	"github.com/leasetop/leasetop/workers"
)

// What the tests of this package know besides: they are written from outside, since what
// they have in common with those of the stories is.
const (
	BackEvery   = backEvery
	BeingMade   = beingMade
	DeadAfter   = deadAfter
	LockPrefix  = lockPrefix
	MostWaiting = mostWaiting
	StaleAfter  = staleAfter
)

var ErrSwept = errSwept

func (s *Stage) Play() *Play              { return s.play }
func (s *Stage) Heard(e workers.Event)    { s.heard(nil, e) }
func (s *Stage) Look(ctx context.Context) { s.look(ctx) }
func (s *Stage) ShowWorkers()             { s.showWorkers() }

// Undone is how many things are to be taken down.
func (s *Stage) Undone() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.undo)
}
