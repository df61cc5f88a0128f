package scenario

import (
	"context"
	"slices"
	"testing"
)

func TestThoseWhoWorkWithoutALeaseAreShown(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		shown := func() ([]Lease, []Worker) {
			s.look(ctx)
			s.showWorkers()
			p := s.play.Picture()
			return p.Leases, p.Workers
		}
		s.Working("m1", 7)
		s.Working("m2", 8)
		jobs, all := shown()
		if !slices.Equal(jobs, []Lease{{Job: 7, Worker: "m1", Attempt: 1}, {Job: 8, Worker: "m2", Attempt: 1}}) ||
			!slices.Equal(all, []Worker{{Name: "m1", State: "busy", Slots: 1}, {Name: "m2", State: "busy", Slots: 1}}) {
			t.Errorf("at work: %+v, %+v", jobs, all)
		}
		s.Idle("m1")
		s.Says("m2", "partitioned")
		jobs, all = shown()
		if !slices.Equal(jobs, []Lease{{Job: 8, Worker: "m2", Attempt: 1}}) ||
			!slices.Equal(all, []Worker{{Name: "m1", State: "idle", Slots: 1}, {Name: "m2", State: "partitioned", Slots: 1}}) {
			t.Errorf("then: %+v, %+v", jobs, all)
		}
		return nil
	})
}
