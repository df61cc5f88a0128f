package scenario_test

import (
	"context"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestWastedAreJobsThatDidNotGoStraightThrough(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		jobs, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}, queue.NewJob{})
		if err != nil {
			return err
		}
		for n, statement := range []string{
			"update leasetop.jobs set attempts = 1 where id = $1",
			"update leasetop.jobs set attempts = 2 where id = $1",
			`update leasetop.jobs set errors = '[{"attempt": 1}]' where id = $1`,
		} {
			if _, err := s.Q.Pool().Exec(ctx, statement, jobs[n]); err != nil {
				return err
			}
			if got, err := s.Wasted(ctx); err != nil || got != int64(n) {
				t.Errorf("after %q it is %d, want %d: %v", statement, got, n, err)
			}
		}
		return nil
	})
}
