package ui

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// Logged enters an act in the world's operator log when it has ended.
func (w *world) Logged(ctx context.Context, a queue.Act, do func(context.Context) (done, skipped int, err error)) error {
	w.touch("log")
	if w.logDown != nil {
		return w.logDown
	}
	done, skipped, err := do(ctx)
	a.Done, a.Skips = int64(done), int64(skipped)
	if err != nil {
		a.Error = err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acts = append(w.acts, a)
	return err
}

// entered is the last entry of the operator log.
func (s *stage) entered() queue.Act {
	s.t.Helper()
	if len(s.acts) == 0 {
		s.t.Fatal("nothing is entered in the operator log")
	}
	return s.acts[len(s.acts)-1]
}

func TestActsOfTheScreensAreEnteredInTheOperatorLog(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.press("tab", "j", "C")
	s.later("y")
	if a := s.entered(); a.What != "cancel" || a.By != "ann@shop1" || !slices.Equal(a.IDs, []int64{88123}) || a.Done != 1 || a.Skips != 0 {
		t.Errorf("a cancel: %+v", a)
	}
	w = newWorld()
	s = newStage(t, w, 120, 36)
	s.press("P")
	s.later("y")
	if a := s.entered(); a.What != "pause" || a.By != "ann@shop1" || a.Filter != "emails" || a.Asked != 1 || a.Done != 1 {
		t.Errorf("a pause: %+v", a)
	}
	w.pause(emailsPaused)
	s.pull()
	s.press("P")
	w.down = errors.New("the database is gone")
	s.later("y")
	if a := s.entered(); a.What != "resume" || a.Filter != "emails" || a.Skips != 0 || a.Error != "the database is gone" {
		t.Errorf("a resume that fails: %+v", a)
	}
	if len(s.acts) != 2 {
		t.Errorf("%d entries", len(s.acts))
	}
}
