package stories

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// burst shows a flood that comes in at once, and what more workers do about it.
func burst() scenario.Scenario {
	const (
		flood  = 100_000
		slots  = 10
		takes  = 20 * time.Millisecond // each job
		most   = 16                    // workers
		figure = "throughput"
		longer = 3 * time.Minute // than each step takes
	)
	var (
		crew    *scenario.Crew
		gate    = scenario.NewGate()
		effects *clerk
		done    atomic.Int64
		act     deed
		counts  = []int{1, 2, 4, 8, most} // of workers, one after the other
		rates   = map[int]float64{}       // jobs a second, by the number of workers
	)
	work := func(ctx context.Context, job *queue.Job) error {
		if err := gate.Wait(ctx, job.ID); err != nil {
			return err
		}
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := effects.Enter(ctx, job); err != nil {
			return err
		}
		done.Add(1)
		return nil
	}
	counted := func() float64 { return float64(done.Load()) }
	shown := -1.0 // of what is done
	show := func(s *scenario.Stage) (over bool) {
		if n := counted(); n != shown {
			shown = n
			s.Bar(scenario.Bar{Name: "jobs done", Value: n, Unit: "jobs", Most: flood, Note: "of 100,000", Over: n == flood})
		}
		return shown == flood
	}
	named := func(n int) string {
		if n == 1 {
			return "1 worker"
		}
		return fmt.Sprintf("%d workers", n)
	}
	// with has so many workers work for a time, and notes how many jobs a second they do.
	with := func(ctx context.Context, s *scenario.Stage, n int, forTime time.Duration) (err error) {
		s.Mark(figure, fmt.Sprint(n))
		s.Note("", named(n)+" from now on")
		for i := len(crew.Pool.Workers()); i < n; i++ {
			if err := crew.Pool.SpawnAs(fmt.Sprintf("w%d", i+1), []string{s.Queue("")}, slots); err != nil {
				return err
			}
		}
		rates[n], err = plotRate(ctx, s, figure, "jobs/s", counted, plotEvery, forTime)
		if err != nil {
			return err
		}
		s.Bar(scenario.Bar{Name: named(n), Value: rates[n], Unit: "jobs/s", Most: most * slots / takes.Seconds(), Over: true})
		return nil
	}
	stands := func(ctx context.Context, s *scenario.Stage) (pending, completed int64, err error) {
		depths, err := s.Depths(ctx)
		if err != nil || len(depths) == 0 {
			return 0, 0, err
		}
		return depths[0].Pending, depths[0].Completed, nil
	}
	times := func(n int) float64 { return rates[n] / rates[1] }
	return scenario.Scenario{
		Name:  "burst",
		Title: "100,000 jobs at once",
		Shows: "A flood waits in the table until somebody works it off. Workers are added while that goes on: twice the workers do nearly twice the jobs, until the machine is full.",
		Needs: scenario.Schema, Lasts: 33 * time.Second,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Lease: 10 * time.Second, Conns: 12, Unlisted: true, // its jobs are too short for lanes
				Handlers: func(_ *scenario.Crew, h *workers.Handlers) { h.Queue(s.Queue(""), work) },
			})
			effects = &clerk{stage: s, crew: crew}
			if err == nil {
				beside(s, scenario.LookEvery, func() bool { return show(s) })
			}
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "100,000 come in",
				Say:  "100,000 jobs come in at once, in one transaction: all of them are there, or none. Nobody works yet.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					_, err := s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{}}, flood)...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "100,000 jobs wait", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, _, err := stands(ctx, s)
						return n == flood, fmt.Sprintf("%d do", n), err
					}},
				},
			},
			{
				Name: "1, 2, 4, 8 workers",
				Say:  "Each job waits 20 ms for somebody else, a mail server say, and a worker has 10 at a time. One worker begins; then there are 2, 4 and 8: the marks below the plot say when. Watch it rise with each.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					for _, n := range counts[:4] {
						if err := with(ctx, s, n, 2*time.Second); err != nil {
							return err
						}
					}
					gate.Shut()
					return nil
				}),
				Expect: []scenario.Expect{
					{Text: "2 workers do 1.5 times as much as 1, and more", Within: longer, Holds: act.done(func() (bool, string) {
						return times(2) > 1.5, fmt.Sprintf("%.1f times", times(2))
					})},
					{Text: "8 workers do 3 times as much as 1, and more", Within: longer, Holds: act.done(func() (bool, string) {
						return times(8) > 3, fmt.Sprintf("%.1f times", times(8))
					})},
				},
			},
			{
				Name: "16, until it is done",
				Say:  "Now 16 workers, until nothing is left. Twice the workers did nearly twice the jobs so far; 16 may not, where the machine is full with less. It runs them all, and the database. Watch the bar of what is done.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					if err := with(ctx, s, most, 3*time.Second); err != nil {
						return err
					}
					for done.Load() < flood {
						if _, err := plotRate(ctx, s, figure, "jobs/s", counted, 0, plotEvery); err != nil {
							return err
						}
					}
					return nil
				}),
				Expect: []scenario.Expect{
					{Text: "all 100,000 are done", Within: longer, Holds: act.done(func() (bool, string) {
						return done.Load() == flood, fmt.Sprintf("%d are", done.Load())
					})},
					{Text: "the queue has all of them as completed", Within: longer, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						_, n, err := stands(ctx, s)
						return n == flood, fmt.Sprintf("%d are", n), err
					}},
					{Text: "none of them took a second attempt", Within: atOnce, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := s.Wasted(ctx)
						return n == 0, fmt.Sprintf("%d did", n), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "with_1_worker", Text: "1 worker does", Unit: "jobs/s", After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return rates[1], nil },
			},
			{
				Name: "with_16_workers", Text: "16 workers do", Unit: "jobs/s",
				Value: func(context.Context, *scenario.Stage) (float64, error) { return rates[most], nil },
			},
			{
				Name: "times_as_many_with_16_workers", Text: "16: times as much as 1", Bound: scenario.AtLeast(3), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return times(most), nil },
			},
		},
	}
}
