package stories

import (
	"context"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// throughputPlot is the plot of how many jobs are completed.
const throughputPlot = "completed"

// plotEvery is how long each point of a plot stands for.
const plotEvery = 250 * time.Millisecond

// plotThroughput draws how many jobs a second the story's workers complete, until the
// play is over.
func plotThroughput(s *scenario.Stage) {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	var plotting sync.WaitGroup
	s.Later("end the plot", func(context.Context) error {
		stop()
		plotting.Wait()
		return nil
	})
	plotting.Go(func() {
		every := time.NewTicker(plotEvery)
		defer every.Stop()
		last, before := time.Now(), s.Completed()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-every.C:
				n := s.Completed()
				s.Plot(throughputPlot, "jobs/s", float64(n-before)/now.Sub(last).Seconds())
				last, before = now, n
			}
		}
	})
}
