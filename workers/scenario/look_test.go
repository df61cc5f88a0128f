package scenario_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// What a crew without lanes holds is in no lane either, though it is counted.
func TestUnlistedCrewsHaveNoLanes(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		gate := scenario.NewGate()
		work := func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) }
		for worker, queue := range map[string]string{"w1": "seen", "n1": "hidden"} {
			if _, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{worker}, Queues: []string{queue}, Unlisted: worker == "n1", Work: work}); err != nil {
				return err
			}
		}
		ids, err := s.Enqueue(ctx, queue.NewJob{Queue: "seen"}, queue.NewJob{Queue: "hidden"})
		if err != nil {
			return err
		}
		for {
			ok, _, err := s.Held(ctx, ids, "n1", "w1")
			if err != nil {
				return err
			}
			if ok {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		for range 2 { // looks: the second began after both were held
			for before := s.Picture().Looked; !s.Picture().Looked.After(before); {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if pic := s.Picture(); len(pic.Leases) != 1 || pic.Leases[0].Worker != "w1" || len(pic.Workers) != 1 {
			t.Errorf("leases %+v of workers %+v", pic.Leases, pic.Workers)
		}
		return nil
	})
}

// Only what keeps the database busy makes looks seldomer, not that it was away.
func TestWhatMustHoldIsCountedAgainSoonAfterAnOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	counted := func(s *scenario.Stage, after time.Time) error {
		// As if the outage had kept the database busy, it would be 30 s at least.
		soon, cancel := context.WithTimeout(s.Context(), 25*time.Second)
		defer cancel()
		for p := s.Picture(); p.Invariants.Counted.Before(after); p = s.Picture() {
			if err := scenario.ToilFor(soon, 20*time.Millisecond); err != nil { // not each count is news
				return fmt.Errorf("not counted since %v: %w", after, err)
			}
		}
		return nil
	}
	story := scenario.Scenario{Name: "try", Needs: scenario.Server, Steps: []scenario.Step{{Do: func(ctx context.Context, s *scenario.Stage) error {
		if err := counted(s, time.Now()); err != nil {
			return err
		}
		if err := faults.RestartServer(ctx, s.Server, local.Immediate, func() error { return scenario.ToilFor(ctx, 3*time.Second) }); err != nil {
			return err
		}
		back := time.Now()
		if err := counted(s, back); err != nil { // it waited for the server
			return err
		}
		return counted(s, time.Now())
	}}}}
	if r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{Seed: 1}).Result(); r.Err != nil {
		t.Error(r.Err)
	}
}
