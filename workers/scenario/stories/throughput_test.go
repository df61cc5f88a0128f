package stories

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestThroughputIsDrawn(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		if _, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1"}}); err != nil {
			return err
		}
		plotThroughput(s)
		if _, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}); err != nil {
			return err
		}
		for {
			for _, plot := range s.Picture().Plots {
				sum := 0.0
				for _, point := range plot.Points {
					sum += point * plotEvery.Seconds()
				}
				if plot.Name == throughputPlot && plot.Unit == "jobs/s" && sum > 1.5 {
					return nil
				}
			}
			select {
			case <-time.After(plotEvery):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}
