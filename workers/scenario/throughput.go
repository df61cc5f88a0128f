package scenario

import (
	"context"
	"slices"
	"sync"
	"time"
)

// throughputPlot is the plot of how many jobs are completed.
const throughputPlot = "completed"

// plotEvery is how long each point of a plot stands for.
const plotEvery = 250 * time.Millisecond

// PlotThroughput draws how many jobs a second the story's workers complete, until the
// play is over.
func (s *Stage) PlotThroughput() {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	var plotting sync.WaitGroup
	s.Later("end the plot", func(context.Context) error {
		stop()
		plotting.Wait()
		return nil
	})
	plotting.Go(func() {
		every := time.NewTicker(plotEvery)
		defer every.Stop()
		last, before := time.Now(), s.completed()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-every.C:
				n := s.completed()
				s.Plot(throughputPlot, "jobs/s", float64(n-before)/now.Sub(last).Seconds())
				last, before = now, n
			}
		}
	})
}

// completed is how many jobs the story's workers have completed.
func (s *Stage) completed() (n uint64) {
	for _, m := range s.members() {
		n += m.Completed
	}
	return n
}

// Pause is the longest time without an effect between two moments of the database's clock.
// While the load rested there was nothing to do: that counts for nothing.
func (s *Stage) Pause(ctx context.Context, from, to time.Time) (longest time.Duration, err error) {
	s.mu.Lock()
	rested := slices.Clone(s.rested)
	s.mu.Unlock()
	for _, r := range rested {
		if r.from.Before(from) || r.from.After(to) {
			continue
		}
		if longest, err = s.longer(ctx, longest, from, r.from); err != nil || r.to.IsZero() {
			return longest, err
		}
		from = r.to
	}
	return s.longer(ctx, longest, from, to)
}

// longer is the pause between two moments, or the given one if that is longer.
func (s *Stage) longer(ctx context.Context, than time.Duration, from, to time.Time) (time.Duration, error) {
	var seconds float64
	err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_pause"), s.run, from, to).Scan(&seconds)
	return max(than, time.Duration(seconds*float64(time.Second))), err
}

// Wasted is how many of the story's jobs took more than one attempt, or met anything else
// that their history tells of.
func (s *Stage) Wasted(ctx context.Context) (n int64, err error) {
	err = s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_wasted"), s.allQueues(true)).Scan(&n)
	return n, err
}
