package stories

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// What never happens would break nothing: each kind of fault does, one after another, and
// is mended.
func TestEachBreakageHappensAndIsMended(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	b := &breakage{busy: map[any]bool{}, counts: map[string]int{}}
	sc := scenario.Scenario{
		Name: "breakage", Needs: scenario.Server,
		Setup: func(ctx context.Context, s *scenario.Stage) error { return b.setUp(ctx, s) },
		Steps: []scenario.Step{{
			Do: func(ctx context.Context, s *scenario.Stage) error {
				for _, one := range allBreaks {
					happened, err := one.happens(b, ctx, s)
					if err != nil {
						return fmt.Errorf("%s: %w", one.name, err)
					}
					if !happened {
						t.Errorf("%s: nothing happened", one.name)
					}
					if err := b.mend(ctx); err != nil {
						return fmt.Errorf("mend %s: %w", one.name, err)
					}
				}
				return nil
			},
			Expect: []scenario.Expect{{
				Text: "the burst is done", Within: 30 * time.Second,
				Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
					depths, err := s.Depths(ctx)
					if err != nil || len(depths) != 1 {
						return false, fmt.Sprintf("%v", depths), err
					}
					d := depths[0]
					return d.Completed == soakBurst && d.Pending+d.Processing+d.Failed+d.Dead == 0, fmt.Sprintf("%+v", d), nil
				},
			}},
		}},
	}
	play := scenario.Start(t.Context(), sc, scenariotest.Ground(t), scenario.Options{Seed: 1, Patience: 10})
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
	if len(b.busy) > 0 {
		t.Errorf("%d are still broken", len(b.busy))
	}
}
