package scenario_test

import (
	"context"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestLedgerTellsWhoseTheEffectsAre(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		jobs, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
		if err != nil {
			return err
		}
		enter := func(job int64, attempt int, owner string) {
			t.Helper()
			if _, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_effect"), s.RunName(), job, attempt, owner); err != nil {
				t.Fatal(err)
			}
		}
		one := func(want bool) {
			t.Helper()
			if got, seen, err := s.OneEffectEach(ctx, jobs...); err != nil || got != want {
				t.Errorf("each had one effect: %v (%s), want %v: %v", got, seen, want, err)
			}
		}
		one(false)
		enter(jobs[0], 2, "host:1:00000000/w2#7")
		enter(jobs[0], 1, "somebody")
		one(false) // two effects for two jobs, but of one of them
		effects, err := s.Effects(ctx, jobs[0])
		if err != nil {
			return err
		}
		if len(effects) != 2 || effects[0].Worker != "w2" || effects[0].Attempt != 2 || effects[1].Worker != "somebody" {
			t.Errorf("effects %+v", effects)
		}
		if _, err := s.Q.Pool().Exec(ctx, "delete from leasetop.scenario_ledger where run = $1 and attempt = 1", s.RunName()); err != nil {
			return err
		}
		enter(jobs[1], 1, "host:1:00000000/w1#1")
		one(true)
		return nil
	})
}

// A second run of a job finds the key of the first, and a job after it has a key of its own.
func TestEffectUnderAKeyComesOnce(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		crew, err := s.Crew(ctx, scenario.CrewOptions{})
		if err != nil {
			return err
		}
		for _, job := range []queue.Job{{ID: 1, Attempts: 1}, {ID: 1, Attempts: 2}, {ID: 2, Attempts: 1}} {
			first, err := crew.EffectOnce(ctx, &job)
			if err != nil {
				return err
			}
			if first != (job.Attempts == 1) {
				t.Errorf("attempt %d of job %d: first is %v", job.Attempts, job.ID, first)
			}
		}
		if ok, seen, err := s.OneEffectEach(ctx, 1, 2); !ok || err != nil {
			t.Errorf("%s: %v", seen, err)
		}
		return nil
	})
}

// Where nobody enters effects, none that happened twice says nothing.
func TestEffectsAreSaidToBeEnteredOnlyWhereSomebodyDoes(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		before, err := s.Invariants(ctx)
		if err != nil {
			return err
		}
		if _, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1"}}); err != nil {
			return err
		}
		after, err := s.Invariants(ctx)
		if before.Entered || !after.Entered {
			t.Errorf("without workers %v, with workers %v", before.Entered, after.Entered)
		}
		return err
	})
}
