package stories

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// Both ways to claim take the job that waits longest, and are done with it.
func TestProbeClaimsAndCompletesTheFirstJob(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		p, err := newProbe(ctx, s, "w1")
		if err != nil {
			return err
		}
		if err := p.flow(ctx, 5, 3); err != nil { // two are left
			return err
		}
		for n, claim := range []func(context.Context) (time.Duration, error){p.claim, p.claimFromStart} {
			if took, err := claim(ctx); err != nil || took <= 0 {
				t.Fatalf("claim %d took %v: %v", n+1, took, err)
			}
			var pending, completed int
			var first bool
			if err := s.Q.Pool().QueryRow(ctx, `select count(*) filter (where status = 'pending'), count(*) filter (where status = 'completed'),
				coalesce(max(id) filter (where status = 'completed') < min(id) filter (where status = 'pending'), true)
				from leasetop.jobs where queue = $1`, s.Queue("")).Scan(&pending, &completed, &first); err != nil {
				return err
			}
			if pending != 1-n || completed != 4+n || !first {
				t.Errorf("after claim %d there are %d pending and %d completed, the first of all: %v", n+1, pending, completed, first)
			}
		}
		for _, claim := range []func(context.Context) (time.Duration, error){p.claim, p.claimFromStart} {
			if _, err := claim(ctx); !errors.Is(err, errNoJob) {
				t.Errorf("a claim from an empty queue: %v", err)
			}
		}
		return nil
	})
}
