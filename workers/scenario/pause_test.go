package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestPauseIsTheLongestTimeWithoutAnEffect(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		from, err := s.Now(ctx)
		if err != nil {
			return err
		}
		pause := func(after, before, want time.Duration) {
			t.Helper()
			if got, err := s.Pause(ctx, from.Add(after), from.Add(before)); err != nil || got != want {
				t.Errorf("from %v to %v the longest is %v, want %v: %v", after, before, got, want, err)
			}
		}
		pause(0, time.Minute, time.Minute)
		jobs, err := s.Enqueue(ctx, queue.NewJob{})
		if err != nil {
			return err
		}
		for _, at := range []time.Duration{3 * time.Second, 4 * time.Second, 6 * time.Second} {
			_, err := s.Q.Pool().Exec(ctx, "insert into leasetop.scenario_ledger (run, job_id, attempt, owner, done_at) values ($1, $2, 1, 'w', $3)",
				s.RunName(), jobs[0], from.Add(at))
			if err != nil {
				return err
			}
		}
		pause(0, 7*time.Second, 3*time.Second)
		pause(3*time.Second, 7*time.Second, 2*time.Second)
		pause(3*time.Second, 5*time.Second, time.Second)
		pause(3500*time.Millisecond, 7*time.Second, 2*time.Second)
		pause(0, 10*time.Second, 4*time.Second)
		pause(7*time.Second, 10*time.Second, 3*time.Second)
		_, err = s.Q.Pool().Exec(ctx, "delete from leasetop.scenario_ledger where run = $1", s.RunName())
		return err
	})
}
