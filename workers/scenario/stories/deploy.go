package stories

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// deploy is the promise of the drain: a release costs no attempt.
func deploy() scenario.Scenario {
	const some = 10 // jobs, of one of three workers: so long that on the plot each replacement is apart
	// A drain lasts as long as what runs: so long that it can be watched.
	work := func(lot *rand.Rand) queue.NewJob {
		return scenario.LabourBetween(lot, 300*time.Millisecond, 500*time.Millisecond)
	}
	var (
		old   = map[string]*scenario.Crew{}
		load  *scenario.Load
		began time.Time    // by the database's clock
		cut   atomic.Int64 // handlers that were stopped before they were done
	)
	start := func(ctx context.Context, s *scenario.Stage, name string) (*scenario.Crew, error) {
		return s.Crew(ctx, scenario.CrewOptions{
			Workers: []string{name}, Slots: 4, Lease: 10 * time.Second,
			Work: func(ctx context.Context, job *queue.Job) error {
				err := scenario.Labour(ctx, job)
				if err != nil {
					cut.Add(1)
				}
				return err
			},
		})
	}
	// replace starts the new release of a process, then drains the old one, as SIGTERM does.
	replace := func(ctx context.Context, s *scenario.Stage, letter string) error {
		if _, err := start(ctx, s, "v2-"+letter); err != nil {
			return err
		}
		for len(s.Worker("v1-"+letter).Running) < 2 { // so that there is something to finish
			select {
			case <-time.After(lookAgain / 4):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		s.Mark(throughputPlot, letter)
		return old[letter].Pool.Stop(ctx)
	}
	drained := func(letter string) scenario.Expect {
		return scenario.Expect{
			Text: "v1-" + letter + " has ended; no handler was cut short",
			Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
				w := s.Worker("v1-" + letter)
				return w.State == workers.Stopped && w.Left == 0 && cut.Load() == 0,
					fmt.Sprintf("it is %s, %d handlers were cut short", w.State, cut.Load()), nil
			},
		}
	}
	working := func(name string) scenario.Expect {
		return scenario.Expect{
			Text: name + " completes jobs",
			Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
				n := s.Worker(name).Completed
				return n >= some, fmt.Sprintf("%d so far", n), nil
			},
		}
	}
	return scenario.Scenario{
		Name:  "deploy",
		Title: "A deploy while work goes on",
		Shows: "Workers that are told to stop claim no more, finish what they have, and end. " +
			"So a new release replaces them one by one, and no job is begun twice because of it.",
		Needs: scenario.Queue, Lasts: 8 * time.Second, Quick: true, Flows: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			for _, letter := range []string{"a", "b", "c"} {
				if old[letter], err = start(ctx, s, "v1-"+letter); err != nil {
					return err
				}
			}
			plotThroughput(s)
			return nil
		},
		Steps: []scenario.Step{
			{
				Name: "Version 1 at work",
				Say: "Version 1 runs in three processes: v1-a, v1-b and v1-c. A producer will enqueue 20 jobs a second, from now to the end; " +
					"each takes 0.3 to 0.5 s. The plot shows how many are completed.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					began, err = s.Now(ctx)
					load = s.LoadOf(50*time.Millisecond, work)
					return err
				},
				Expect: []scenario.Expect{working("v1-a"), working("v1-b"), working("v1-c")},
			},
			{
				Name: "a is replaced",
				Say: "We deploy version 2. v2-a starts; then v1-a is told to stop, as by SIGTERM. " +
					"It drains: no more claims, what runs may finish. Watch the bars of the plot go on over the mark a.",
				Do:     func(ctx context.Context, s *scenario.Stage) error { return replace(ctx, s, "a") },
				Expect: []scenario.Expect{drained("a"), working("v2-a")},
			},
			{
				Name:   "b is replaced",
				Say:    "The same for b. The two versions work side by side on one table, for as long as the deploy takes. Watch the bars go on over the mark b.",
				Do:     func(ctx context.Context, s *scenario.Stage) error { return replace(ctx, s, "b") },
				Expect: []scenario.Expect{drained("b"), working("v2-b")},
			},
			{
				Name:   "c is replaced",
				Say:    "And for c: after this no worker of version 1 will be left. Watch the plot: it has no gap.",
				Do:     func(ctx context.Context, s *scenario.Stage) error { return replace(ctx, s, "c") },
				Expect: []scenario.Expect{drained("c"), working("v2-c")},
			},
			{
				Name: "The rest is done",
				Say: "The producer ends now, and what it enqueued will be done. " +
					"Every job goes straight through: one attempt, one effect, whichever version does it.",
				Do: func(context.Context, *scenario.Stage) error {
					load.Stop()
					if n, err := load.Refused(); n > 0 {
						return fmt.Errorf("%d jobs could not be enqueued: %w", n, err)
					}
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, load.Jobs()...)
					}},
					{Text: "each had one effect", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, load.Jobs()...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "wasted", Text: "jobs tried twice", Bound: scenario.Exactly(0),
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					n, err := s.Wasted(ctx)
					return float64(n), err
				},
			},
			{
				Name: "pause", Text: "longest pause", Unit: "s", After: 4, Bound: scenario.AtMost(1), Timed: true,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					now, err := s.Now(ctx)
					if err != nil {
						return 0, err
					}
					pause, err := s.Pause(ctx, began, now)
					return pause.Seconds(), err
				},
			},
		},
	}
}
