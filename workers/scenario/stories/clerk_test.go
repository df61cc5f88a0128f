package stories

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// Whatever goes with which statement, each effect is in the ledger when Enter returns.
func TestClerkEntersEveryEffectOnce(t *testing.T) {
	t.Parallel()
	const jobs = 500
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		effects := &clerk{stage: s, crew: crew}
		errs := make([]error, jobs)
		var all sync.WaitGroup
		for i := range jobs {
			all.Go(func() {
				job := &queue.Job{ID: int64(i + 1), Attempts: 1, LockedBy: "somebody"}
				if errs[i] = effects.Enter(ctx, job); errs[i] != nil {
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
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		effects := &clerk{stage: s, crew: crew}
		crew.Queue.Pool().Close()
		if err := effects.Enter(ctx, &queue.Job{ID: 1}); err == nil {
			t.Error("an effect is entered without a connection")
		}
		return nil
	})
}

// Whose handler has ended before its page is on its way has no effect, and those beside it have theirs.
func TestClerkEntersNothingForWhoHasGone(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		effects := &clerk{stage: s, crew: crew, writing: true} // as while an earlier page is on its way
		gone, leave := context.WithCancel(ctx)
		left, stays := make(chan error, 1), make(chan error, 1)
		go func() { left <- effects.Enter(gone, &queue.Job{ID: 1, Attempts: 1, LockedBy: "gone"}) }()
		go func() { stays <- effects.Enter(ctx, &queue.Job{ID: 2, Attempts: 1, LockedBy: "here"}) }()
		leave()
		if err := <-left; err == nil {
			t.Error("an effect of nobody is entered")
		}
		for listed := 0; listed == 0; time.Sleep(time.Millisecond) { // until the other stands on the page
			effects.mu.Lock()
			if effects.next != nil {
				listed = len(effects.next.jobs)
			}
			effects.mu.Unlock()
		}
		effects.write()
		if err := <-stays; err != nil {
			return err
		}
		all, err := s.Effects(ctx, 1, 2)
		if err != nil || len(all) != 1 || all[0].Job != 2 {
			t.Errorf("effects %+v: %v", all, err)
		}
		return nil
	})
}
