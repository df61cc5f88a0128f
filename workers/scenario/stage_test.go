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
			want  workers.Recovery
		}{
			{workers.Event{What: workers.ReapedBack, Late: time.Minute}, workers.Recovery{Unwatched: 1}}, // the database was away
			{workers.Event{What: workers.ReapedBack, Late: 20 * time.Millisecond, Watched: true}, workers.Recovery{Judged: 1, Worst: 20 * time.Millisecond, Unwatched: 1}},
			{workers.Event{What: workers.ReapedDead, Late: 10 * time.Millisecond}, workers.Recovery{Judged: 2, Worst: 20 * time.Millisecond, Unwatched: 1}},
		} {
			s.Heard(one.event)
			inv, err := s.Invariants(ctx)
			if err != nil {
				return err
			}
			if inv.Recovery != one.want {
				t.Errorf("after %+v it is %+v, want %+v", one.event, inv.Recovery, one.want)
			}
		}
		return nil
	})
}
