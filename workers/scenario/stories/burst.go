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
	)
	var (
		crew    *scenario.Crew
		gate    = scenario.NewGate()
		effects *clerk
		done    atomic.Int64
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
		Shows: "A flood waits in the table, and costs nothing while it does. Workers are added while it is worked off, and the throughput grows with them, until the machine is the limit.",
		Needs: scenario.Schema, Lasts: 33 * time.Second,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Lease: 10 * time.Second, Conns: 12, Unlisted: true, // its jobs are too short for lanes
				Handlers: func(_ *scenario.Crew, h *workers.Handlers) { h.Queue(s.Queue(""), work) },
			})
			effects = &clerk{stage: s, crew: crew}
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
				Do: func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					for _, n := range counts[:4] {
						if err := with(ctx, s, n, 2*time.Second); err != nil {
							return err
						}
					}
					gate.Shut()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "2 workers do half as much again as 1, and more", Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						return times(2) > 1.5, fmt.Sprintf("%.1f times", times(2)), nil
					}},
					{Text: "8 workers do 3 times as much as 1, and more", Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						return times(8) > 3, fmt.Sprintf("%.1f times", times(8)), nil
					}},
				},
			},
			{
				Name: "16, until it is done",
				Say:  "Now 16 workers, and they work until nothing is left. A full bar is what 16 could do at most, 8,000 jobs/s: each slot does 50. How far theirs falls short of it is the limit of this machine.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					if err := with(ctx, s, most, 3*time.Second); err != nil {
						return err
					}
					for began := time.Now(); done.Load() < flood && time.Since(began) < 3*time.Minute; {
						if _, err := plotRate(ctx, s, figure, "jobs/s", counted, 0, plotEvery); err != nil {
							return err
						}
					}
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all 100,000 jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
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
				Name: "with_1_worker", Text: "throughput with 1 worker", Unit: "jobs/s", After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return rates[1], nil },
			},
			{
				Name: "with_16_workers", Text: "throughput with 16 workers", Unit: "jobs/s",
				Value: func(context.Context, *scenario.Stage) (float64, error) { return rates[most], nil },
			},
			{
				Name: "times_as_many_with_16_workers", Text: "times as many jobs with 16 workers as with 1", Bound: scenario.AtLeast(3), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return times(most), nil },
			},
		},
	}
}
