package stories

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestMiddleIsNotMovedByOneSlowClaim(t *testing.T) {
	t.Parallel()
	if got := middle([]time.Duration{3, 1, time.Hour, 2, 1}); got != 2 {
		t.Errorf("the middle is %v", got)
	}
	if got := middle(nil); got != 0 {
		t.Errorf("of nothing it is %v", got)
	}
}

func TestPacedEndsWithItsPlayAndAtAMistake(t *testing.T) {
	t.Parallel()
	mistake := errors.New("a mistake")
	n := 0
	if err := paced(t.Context(), 3, func() error { n++; return mistake }); !errors.Is(err, mistake) || n != 1 {
		t.Errorf("after a mistake it was done %d times: %v", n, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	n = 0
	if err := paced(ctx, 1000, func() error { n++; cancel(scenario.ErrCancelled); return nil }); !errors.Is(err, scenario.ErrCancelled) || n > 2 {
		t.Errorf("of a cancelled play it was done %d times: %v", n, err)
	}
}

// The first time is left out of the rate, and in the plot.
func TestRateIsThatOfTheSecondTime(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		looks := 0
		counter := func() float64 { // begins with a leap
			if looks++; looks == 1 {
				return 0
			}
			return 1_000_000
		}
		rate, err := plotRate(ctx, s, "it", "1/s", counter, 3*plotEvery, 2*plotEvery)
		if err != nil {
			return err
		}
		plots := s.Picture().Plots
		if rate != 0 || len(plots) != 1 || len(plots[0].Points) < 2 || plots[0].Points[0] < 1000 {
			t.Errorf("the rate is %v, plotted %+v", rate, plots)
		}
		return nil
	})
}

func TestDelayIsFromEnqueuedToCompleted(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		jobs, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}, queue.NewJob{})
		if err != nil {
			return err
		}
		for i, after := range []string{"1 s", "2 s", "1 h"} {
			if _, err := s.Q.Pool().Exec(ctx, "update leasetop.jobs set updated_at = created_at + $2::interval where id = $1", jobs[i], after); err != nil {
				return err
			}
		}
		if got, err := medianDelay(ctx, s, jobs); got != 2*time.Second {
			t.Errorf("the delay is %v: %v", got, err)
		}
		return nil
	})
}
