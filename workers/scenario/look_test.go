package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
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
