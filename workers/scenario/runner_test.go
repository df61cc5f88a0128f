package scenario_test

import (
	"context"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestWorkersAreSeenFromWithinAndFromTheDatabase(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		gate := scenario.NewGate()
		crew, err := s.Crew(ctx, scenario.CrewOptions{
			Workers: []string{"w1", "w2"},
			Work:    func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
		})
		if err != nil {
			return err
		}
		jobs, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
		if err != nil {
			return err
		}
		until := func(holds func() bool) error {
			for !holds() {
				changed := crew.Pool.Changed()
				if holds() {
					break
				}
				select {
				case <-changed:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}
		of := func(name string) int64 {
			if running := s.Worker(name).Running; len(running) == 1 {
				return running[0].JobID
			}
			return 0
		}
		if err := until(func() bool { return of("w1") != 0 && of("w2") != 0 }); err != nil {
			return err
		}
		held := func(want bool, workers ...string) {
			t.Helper()
			if got, seen, err := s.Held(ctx, jobs, workers...); err != nil || got != want {
				t.Errorf("held by %q: %v, want %v: %s, %v", workers, got, want, seen, err)
			}
		}
		held(true, "w1", "w2")
		held(false, "w1")
		held(false, "w1", "w1")
		mine, others := of("w1"), of("w2")
		if !s.Runs("w1", mine, 1) || s.Runs("w1", others, 1) || s.Runs("w1", mine, 2) || s.Runs("w3", mine, 1) {
			t.Error("who runs what at which attempt is mixed up")
		}
		if s.Worker("w3").Name != "" {
			t.Error("there is a w3")
		}
		gate.Pass(mine)
		if err := until(func() bool { return s.Worker("w1").State == workers.Idle && s.Worker("w1").Completed == 1 }); err != nil {
			return err
		}
		held(true, "w2")
		return nil
	})
}

// What workers did counts when they are gone, too: the figures of a play never fall.
func TestWhatRemovedWorkersDidStillCounts(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		crew, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1", "w2"}})
		if err != nil {
			return err
		}
		if _, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}, queue.NewJob{}); err != nil {
			return err
		}
		for s.Completed() < 3 {
			changed := crew.Pool.Changed()
			if s.Completed() == 3 {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for _, name := range []string{"w1", "w2"} {
			if err := crew.Remove(name); err == nil {
				t.Errorf("%s is removed at work", name)
			}
			if err := crew.Pool.Kill(name); err != nil {
				return err
			}
			if err := crew.Remove(name); err != nil {
				return err
			}
		}
		if n := s.Completed(); n != 3 || len(crew.Pool.Workers()) != 0 {
			t.Errorf("%d are completed by those who were there, of whom there are %v", n, crew.Pool.Workers())
		}
		return nil
	})
}
