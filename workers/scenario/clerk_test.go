package scenario

import (
	"context"
	"sync"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// Whatever goes with which statement, each effect is in the ledger when Enter returns.
func TestClerkEntersEveryEffectOnce(t *testing.T) {
	t.Parallel()
	const jobs = 500
	var effects clerk
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		crew, err := s.Crew(ctx, CrewOptions{})
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
	var effects clerk
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		crew, err := s.Crew(ctx, CrewOptions{})
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
