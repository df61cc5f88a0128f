package stories

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// A worker that is taken off the list takes nothing off the curve.
func TestThroughputIsDrawn(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		crew, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1"}})
		if err != nil {
			return err
		}
		plotThroughput(s)
		if _, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}); err != nil {
			return err
		}
		points := 0
		drawn := func(is func(points []float64) bool) {
			for ctx.Err() == nil {
				for _, plot := range s.Picture().Plots {
					if plot.Name == throughputPlot && plot.Unit == "jobs/s" && is(plot.Points) {
						return
					}
				}
				pause := time.NewTimer(plotEvery)
				select {
				case <-pause.C:
				case <-ctx.Done():
				}
			}
		}
		drawn(func(all []float64) bool {
			points = len(all)
			return s.Completed() == 2 && all[points-1] == 0 && slices.Max(all) > 0
		})
		if err := crew.Pool.Kill("w1"); err != nil {
			return err
		}
		if err := crew.Remove("w1"); err != nil {
			return err
		}
		drawn(func(all []float64) bool {
			for _, point := range all[points:] {
				if point != 0 {
					t.Errorf("drawn is %v", point)
				}
			}
			return len(all) >= points+2
		})
		return ctx.Err()
	})
}
