package stories

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/workers/scenario"
)

// lookAgain is between two looks of a story that waits for something.
const lookAgain = 20 * time.Millisecond

// plotRate plots how fast a counter rises, for two times, and returns how fast it rose in the second.
func plotRate(ctx context.Context, s *scenario.Stage, plot, unit string, counter func() float64, first, then time.Duration) (float64, error) {
	tick := time.NewTicker(plotEvery)
	defer tick.Stop()
	began := time.Now()
	last, at := counter(), began
	from, since := last, began
	for time.Since(began) < first+then {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
		n, now := counter(), time.Now()
		s.Plot(plot, unit, (n-last)/now.Sub(at).Seconds())
		last, at = n, now
		if now.Sub(began) <= first {
			from, since = n, now
		}
	}
	return (last - from) / at.Sub(since).Seconds(), nil
}

// goOnPlotting plots how fast a counter rises from now on, until the play is over.
func goOnPlotting(s *scenario.Stage, plot, unit string, counter func() float64) {
	last, at := counter(), time.Now()
	beside(s, plotEvery, func() bool {
		n, now := counter(), time.Now()
		s.Plot(plot, unit, (n-last)/now.Sub(at).Seconds())
		last, at = n, now
		return false
	})
}

// medianDelay is how long half of these completed jobs took at most from being enqueued to
// being completed, by the database's clock.
func medianDelay(ctx context.Context, s *scenario.Stage, jobs []int64) (time.Duration, error) {
	all, err := s.Q.ByID(ctx, jobs...)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	delays := make([]time.Duration, len(all))
	for i := range all {
		delays[i] = all[i].UpdatedAt.Sub(all[i].CreatedAt)
	}
	return middle(delays), nil
}

// middle is the middle one of some durations; 0 of none.
func middle(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// runVacuum removes what no transaction can see any more from the jobs' table, which must be the play's own.
func runVacuum(ctx context.Context, s *scenario.Stage) error {
	_, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_vacuum"), pgx.QueryExecModeSimpleProtocol)
	return err
}

// paced does something so many times, unhurried, so that it can be watched.
func paced(ctx context.Context, times int, do func() error) error {
	tick := time.NewTicker(scenario.LookEvery)
	defer tick.Stop()
	for range times {
		if err := do(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
