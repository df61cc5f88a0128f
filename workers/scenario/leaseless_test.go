package scenario_test

import (
	"context"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestThoseWhoWorkWithoutALeaseAreShown(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		shown := func() ([]scenario.Lease, []scenario.Worker) {
			s.Look(ctx)
			s.ShowWorkers()
			p := s.Picture()
			return p.Leases, p.Workers
		}
		s.Working("m1", 7)
		s.Working("m2", 8)
		jobs, all := shown()
		if !slices.Equal(jobs, []scenario.Lease{{Job: 7, Worker: "m1", Attempt: 1}, {Job: 8, Worker: "m2", Attempt: 1}}) ||
			!slices.Equal(all, []scenario.Worker{{Name: "m1", State: "busy", Slots: 1}, {Name: "m2", State: "busy", Slots: 1}}) {
			t.Errorf("at work: %+v, %+v", jobs, all)
		}
		s.Idle("m1")
		s.Says("m2", "partitioned")
		jobs, all = shown()
		if !slices.Equal(jobs, []scenario.Lease{{Job: 8, Worker: "m2", Attempt: 1}}) ||
			!slices.Equal(all, []scenario.Worker{{Name: "m1", State: "idle", Slots: 1}, {Name: "m2", State: "partitioned", Slots: 1}}) {
			t.Errorf("then: %+v, %+v", jobs, all)
		}
		return nil
	})
}
