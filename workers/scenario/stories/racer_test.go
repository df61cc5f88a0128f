package stories

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestRacersFinishTheirQueue(t *testing.T) {
	t.Parallel()
	const jobs = 60
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		ids, err := s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{Queue: "skip"}}, jobs)...)
		if err != nil {
			return err
		}
		r := &racer{name: "SKIP LOCKED", queue: "skip", claim: faults.Skipping}
		if err := r.run(ctx, s, 4, 0, time.Minute); err != nil {
			return err
		}
		if r.done() != jobs || r.twice() != 0 || r.perSecond() <= 0 {
			t.Errorf("they did %d of %d jobs, %.0f/s, with %d duplicates", r.done(), jobs, r.perSecond(), r.twice())
		}
		if ok, seen, err := s.OneEffectEach(ctx, ids...); !ok || err != nil {
			t.Errorf("%s: %v", seen, err)
		}
		bars := s.Picture().Bars
		if len(bars) != 1 || bars[0].Value != jobs || bars[0].Bad || !bars[0].Over {
			t.Errorf("bars %+v", bars)
		}
		return nil
	})
}

// A claim of a job that somebody had is a duplicate, whoever had it; a job counts once.
func TestRacersCountDuplicates(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		s.Exempt("naive")
		ids, err := s.Enqueue(ctx, queue.NewJob{Queue: "naive"})
		if err != nil {
			return err
		}
		var claims atomic.Int64
		three := func(context.Context, *pgx.Conn, *leasesql.Schema, string, string, time.Duration) (int64, bool, error) {
			return ids[0], claims.Add(1) <= 3, nil
		}
		r := &racer{name: "naive", queue: "naive", claim: three}
		if err := r.run(ctx, s, 2, 0, time.Minute); err != nil {
			return err
		}
		if r.twice() != 2 || r.done() != 0 { // nobody wrote who owns it, so nobody could complete it
			t.Errorf("%d duplicates, %d done", r.twice(), r.done())
		}
		effects, err := s.Effects(ctx, ids...)
		var attempts []int
		for _, e := range effects {
			attempts = append(attempts, e.Attempt)
		}
		slices.Sort(attempts)
		if err != nil || !slices.Equal(attempts, []int{1, 2, 3}) {
			t.Errorf("the ledger has attempts %v: %v", attempts, err)
		}
		if bars := s.Picture().Bars; !bars[0].Bad {
			t.Errorf("bars %+v", bars)
		}
		return nil
	})
}
