package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestWorstRecoveryIsTheReapersOwn(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		for _, one := range []struct {
			event workers.Event
			worst time.Duration
		}{
			{workers.Event{What: workers.ReapedBack, Late: time.Minute}, -1}, // the database was away
			{workers.Event{What: workers.ReapedBack, Late: 20 * time.Millisecond, Watched: true}, 20 * time.Millisecond},
			{workers.Event{What: workers.ReapedDead, Late: 10 * time.Millisecond, Watched: true}, 20 * time.Millisecond},
		} {
			s.Heard(one.event)
			inv, err := s.Invariants(ctx)
			if err != nil {
				return err
			}
			if inv.Worst != one.worst {
				t.Errorf("after %+v the worst is %v, want %v", one.event, inv.Worst, one.worst)
			}
		}
		return nil
	})
}
