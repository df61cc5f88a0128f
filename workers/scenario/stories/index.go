package stories

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// index shows what the index of the pending jobs is for.
func index() scenario.Scenario {
	const (
		history = 1_000_000
		shown   = "claim"
		longer  = 2 * time.Minute // than each step takes
	)
	var (
		worker              *probe
		act                 deed
		base, worst, healed time.Duration
		meanwhile           int // claims while the index was built
	)
	show := func(s *scenario.Stage, name string, took time.Duration, bad bool) {
		if took == 0 {
			return // not known yet
		}
		s.Bar(scenario.Bar{Name: name, Value: inMilliseconds(took), Unit: "ms", Most: inMilliseconds(max(base, worst, healed)), Bad: bad, Over: true})
	}
	// compares has the longest claim fill its bar.
	compares := func(s *scenario.Stage) {
		show(s, "claim: few jobs", base, false)
		show(s, "claim: no index", worst, true)
		show(s, "claim: index again", healed, false)
	}
	// looks times claims for a while, and tells what most of them take.
	looks := func(ctx context.Context, s *scenario.Stage, n int) (time.Duration, error) {
		var all []time.Duration
		err := paced(ctx, n, func() error {
			took, err := cost(ctx, worker.claim)
			all = append(all, took)
			s.Plot(shown, "ms", inMilliseconds(took))
			return err
		})
		return middle(all), err
	}
	// while times claims until what goes on beside them is over, and counts them.
	while := func(ctx context.Context, s *scenario.Stage, beside func(ctx context.Context) error) (count int, err error) {
		over := make(chan error, 1)
		go func() { over <- beside(ctx) }()
		tick := time.NewTicker(scenario.LookEvery)
		defer tick.Stop()
		for {
			took, err := worker.claim(ctx)
			if err != nil {
				return count, errors.Join(err, <-over)
			}
			s.Plot(shown, "ms", inMilliseconds(took))
			select {
			case err := <-over:
				return count, err
			default:
				count++
			}
			select {
			case err := <-over:
				return count, err
			case <-tick.C:
			}
		}
	}
	// piled shows how many finished jobs there are so far.
	piled := func(s *scenario.Stage, n int) {
		s.Bar(scenario.Bar{Name: "finished jobs", Value: float64(n), Unit: "jobs", Most: history, Note: "of 1,000,000", Over: n == history})
	}
	return scenario.Scenario{
		Name:  "index",
		Title: "The index of pending jobs is missing",
		Shows: "Finished jobs pile up, and a claim must not read them. The index holds only what is pending. Without it every claim reads the whole table; it can be built again while work goes on.",
		Needs: scenario.Schema, Lasts: 15 * time.Second,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			if worker, err = newProbe(ctx, s, "w1"); err == nil {
				err = worker.flow(ctx, 2000, 0) // enough for all claims that are timed
			}
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "All is well",
				Say:  "A worker looks for a job that is pending and takes it: a claim. It does so again and again. 2,000 jobs are pending, and hardly any are finished. The plot shows how long each claim takes.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) (err error) {
					base, err = looks(ctx, s, 10)
					compares(s)
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "a claim is a matter of milliseconds", Within: longer, Holds: act.done(func() (bool, string) {
						return base < 50*time.Millisecond, base.String()
					})},
				},
			},
			{
				Name: "The index is dropped",
				Say:  "Somebody drops the index: each claim takes longer at once. Then the months pass, and a million finished jobs pile up. Watch the claims: they read all of these, to find one that is pending.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					s.Mark(shown, "dropped")
					s.Note("", "the index of pending jobs is dropped")
					if err := faults.DropReadyIndex(ctx, s.Q); err != nil {
						return err
					}
					_, err := while(ctx, s, func(ctx context.Context) error { return putHistory(ctx, s, history, func(n int) { piled(s, n) }) })
					if err != nil {
						return err
					}
					worst, err = looks(ctx, s, 2)
					compares(s)
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "a claim takes 10 times as long, and more", Harm: true, Within: longer, Holds: act.done(func() (bool, string) {
						return worst > 10*base, fmt.Sprintf("%v after %v", worst, base)
					})},
					{Text: "1,000,000 finished jobs are in the table", Within: longer, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						depths, err := s.Depths(ctx)
						n := int64(0)
						for _, d := range depths {
							n += d.Completed
						}
						return n >= history, fmt.Sprintf("%d are", n), err
					}},
				},
			},
			{
				Name: "It is built again",
				Say:  "We build the index again, CONCURRENTLY: nobody is locked out meanwhile, and the worker goes on as well as it can. Watch its claims fall back to where they were, with the million jobs still there.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) (err error) {
					s.Mark(shown, "build")
					s.Note("", "the index is being built, CONCURRENTLY")
					began := time.Now()
					meanwhile, err = while(ctx, s, func(ctx context.Context) error {
						return faults.BuildReadyIndex(ctx, s.Q, nil)
					})
					if err != nil {
						return err
					}
					s.Mark(shown, "built")
					s.Note("", fmt.Sprintf("the index is built, in %.1f s: %d claims meanwhile", time.Since(began).Seconds(), meanwhile))
					healed, err = looks(ctx, s, 20)
					compares(s)
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "jobs were claimed while it was built", Within: longer, Holds: act.done(func() (bool, string) {
						return meanwhile > 0, fmt.Sprintf("%d were", meanwhile)
					})},
					{Text: "claims are quick again: under a fifth", Within: longer, Holds: act.done(func() (bool, string) {
						return 5*healed < worst, fmt.Sprintf("%v after %v", healed, worst)
					})},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "times_as_long_without_index", Text: "no index: times as long", Harm: true, Bound: scenario.AtLeast(10),
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return worst.Seconds() / healed.Seconds(), nil
				},
			},
			{
				Name: "claim_without_index", Text: "no index: a claim takes", Unit: "ms", After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(worst), nil },
			},
			{
				Name: "claim_with_index", Text: "index: a claim takes", Unit: "ms",
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(healed), nil },
			},
		},
	}
}

// putHistory adds finished jobs, so many at a time that JOBS can follow, and tells how
// many there are so far.
func putHistory(ctx context.Context, s *scenario.Stage, n int, so func(far int)) error {
	const some = 25_000
	so(0)
	for done := 0; done < n; done += some {
		if _, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_history"), s.Queue(""), min(some, n-done)); err != nil {
			return fmt.Errorf("add finished jobs: %w", err)
		}
		so(min(done+some, n))
	}
	return nil
}
