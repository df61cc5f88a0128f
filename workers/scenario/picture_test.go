package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// How long an assertion is looked at is to be seen while the look at it takes its time.
func TestAnAssertionTicksWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	ticks := func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
		for before := time.Duration(0); ; {
			pic := s.Picture()
			took := pic.Steps[0].Assertions[0].Took
			if before > 0 && took > before {
				return true, "", nil
			}
			before = max(before, took)
			select {
			case <-s.Play().Changed(pic.Version):
			case <-ctx.Done():
				return false, "it stands still", nil
			}
		}
	}
	r := scenario.Start(t.Context(), scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{{Expect: []scenario.Expect{{Text: "it ticks", Holds: ticks}}}}}, scenariotest.Ground(t), scenario.Options{Seed: 1}).Result()
	if !r.OK {
		t.Errorf("%+v", r)
	}
}

// A picture says whose the invariants are, what a step is called, and whether jobs flow on.
func TestAPictureSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	for _, exempt := range []bool{false, true} {
		act := func(_ context.Context, s *scenario.Stage) error {
			if exempt {
				s.Exempt("harmed")
			}
			return nil
		}
		play := scenario.Start(t.Context(), scenario.Scenario{Name: "try", Needs: scenario.Queue, Flows: exempt, Steps: []scenario.Step{{Name: "Something is done", Do: act}}}, scenariotest.Ground(t), scenario.Options{Seed: 1})
		r, pic := play.Result(), play.Picture()
		if !r.OK || pic.Invariants.Exempt != exempt || pic.Flows != exempt || pic.Steps[0].Name != "Something is done" {
			t.Errorf("%+v: %+v", r, pic)
		}
	}
}
