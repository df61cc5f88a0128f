package scenario

import (
	"context"
	"testing"
	"time"
)

// How long an assertion is looked at is to be seen while the look at it takes its time.
func TestAnAssertionTicksWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	ticks := func(ctx context.Context, s *Stage) (bool, string, error) {
		for before := time.Duration(0); ; {
			pic := s.play.Picture()
			took := pic.Steps[0].Assertions[0].Took
			if before > 0 && took > before {
				return true, "", nil
			}
			before = max(before, took)
			select {
			case <-s.play.Changed(pic.Version):
			case <-ctx.Done():
				return false, "it stands still", nil
			}
		}
	}
	r := Start(t.Context(), Scenario{Name: "try", Needs: Queue, Steps: []Step{{Expect: []Expect{{Text: "it ticks", Holds: ticks}}}}}, ground(t), Options{Seed: 1}).Result()
	if !r.OK {
		t.Errorf("%+v", r)
	}
}

// A picture says whose the invariants are, what a step is called, and whether jobs flow on.
func TestAPictureSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	for _, exempt := range []bool{false, true} {
		act := func(_ context.Context, s *Stage) error {
			if exempt {
				s.Exempt("harmed")
			}
			return nil
		}
		play := Start(t.Context(), Scenario{Name: "try", Needs: Queue, Flows: exempt, Steps: []Step{{Name: "Something is done", Do: act}}}, ground(t), Options{Seed: 1})
		r, pic := play.Result(), play.Picture()
		if !r.OK || pic.Invariants.Exempt != exempt || pic.Flows != exempt || pic.Steps[0].Name != "Something is done" {
			t.Errorf("%+v: %+v", r, pic)
		}
	}
}
