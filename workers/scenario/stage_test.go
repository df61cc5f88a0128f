package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
)

func TestWorstRecoveryIsTheReapersOwn(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		for _, one := range []struct {
			event workers.Event
			worst time.Duration
		}{
			{workers.Event{What: workers.ReapedBack, Late: time.Minute}, -1}, // the database was away
			{workers.Event{What: workers.ReapedBack, Late: 20 * time.Millisecond, Watched: true}, 20 * time.Millisecond},
			{workers.Event{What: workers.ReapedDead, Late: 10 * time.Millisecond, Watched: true}, 20 * time.Millisecond},
		} {
			s.heard(one.event)
			inv, err := s.invariants(ctx)
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
