package stories

import (
	"context"
	"sync"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// Whatever goes with which statement, each effect is in the ledger when Enter returns.
func TestClerkEntersEveryEffectOnce(t *testing.T) {
	t.Parallel()
	const jobs = 500
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		effects := &clerk{stage: s}
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		errs := make([]error, jobs)
		var all sync.WaitGroup
		for i := range jobs {
			all.Go(func() {
				job := &queue.Job{ID: int64(i + 1), Attempts: 1, LockedBy: "somebody"}
				if errs[i] = effects.Enter(ctx, crew, job); errs[i] != nil {
					return
				}
				one, err := s.Effects(ctx, job.ID)
				if err != nil || len(one) != 1 || one[0].Attempt != 1 || one[0].Worker != "somebody" {
					t.Errorf("job %d has effects %+v: %v", job.ID, one, err)
				}
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// An effect that could not be entered is not taken for one that was.
func TestClerkSaysWhatItCouldNotEnter(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		effects := &clerk{stage: s}
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		crew.Queue.Pool().Close()
		if err := effects.Enter(ctx, crew, &queue.Job{ID: 1}); err == nil {
			t.Error("an effect is entered without a connection")
		}
		return nil
	})
}
