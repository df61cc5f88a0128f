package scenario_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// A database in which a play has a queue may have reapers of its own, which are as quick.
func TestReclaimByAStrangersReaperIsTold(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	scenariotest.Try(t, g, func(ctx context.Context, s *scenario.Stage) error {
		if _, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{MaxAttempts: 1}); err != nil {
			return err
		}
		jobs, err := s.Q.Claim(ctx, queue.ClaimRequest{Queue: s.Queue(""), Owner: "app1:7:c0ffee/w1#1", Limit: 2, Lease: time.Second})
		if err != nil || len(jobs) != 2 {
			t.Fatalf("claimed %v, %v", jobs, err)
		}
		scenariotest.Await(t, s.Play(), "the leases are seen", func(p scenario.Picture) bool { return len(p.Leases) == 2 })
		for taken := 0; taken < 2; {
			lost, err := g.Queue.Reclaim(ctx, 2)
			if err != nil {
				return err
			}
			taken += len(lost)
		}
		whats := func(p scenario.Picture) (whats []workers.What) {
			for _, e := range p.Events {
				if strings.Contains(e.Text, "lease lost by ") {
					whats = append(whats, e.What)
				}
			}
			slices.Sort(whats)
			return whats
		}
		both := []workers.What{workers.ReapedBack, workers.ReapedDead}
		scenariotest.Await(t, s.Play(), "it is told", func(p scenario.Picture) bool { return slices.Equal(whats(p), both) })
		// How late strangers are is theirs: the play knows neither when a lease really ended,
		// nor what kept them.
		inv, err := s.Invariants(ctx)
		if err != nil {
			return err
		}
		if inv.Recovery != (workers.Recovery{}) {
			t.Errorf("of strangers' reclaims it says %+v", inv.Recovery)
		}
		s.Heard(workers.Event{What: workers.ReapedBack, JobID: jobs[0].ID, Owner: jobs[0].LockedBy, Text: "lease lost by w1"})
		if got := whats(s.Picture()); !slices.Equal(got, both) {
			t.Errorf("told are %v, want each once", got)
		}
		return nil
	})
}
