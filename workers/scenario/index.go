package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/workers/faults"
)

// index shows what the index of the pending jobs is for.
func index() Scenario {
	const (
		history = 1_000_000
		shown   = "claim"
	)
	var (
		worker              *probe
		base, worst, healed time.Duration
		meanwhile           int // claims while the index was built
	)
	// looks times claims for a while, and tells what most of them take.
	looks := func(ctx context.Context, s *Stage, n int) (time.Duration, error) {
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
	while := func(ctx context.Context, s *Stage, beside func(ctx context.Context) error) (count int, err error) {
		over := make(chan error, 1)
		go func() { over <- beside(ctx) }()
		tick := time.NewTicker(lookEvery)
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
	return Scenario{
		Name:  "index",
		Title: "The index of pending jobs is missing",
		Shows: "Finished jobs pile up, and a claim must not read them. The index holds only what is pending. Without it every claim reads the whole table; it can be built again while work goes on.",
		Needs: Schema, Lasts: 15 * time.Second,
		Setup: func(ctx context.Context, s *Stage) (err error) {
			if worker, err = s.Probe(ctx, "w1"); err == nil {
				err = worker.flow(ctx, 2000, 0) // enough for all claims that are timed
			}
			return err
		},
		Steps: []Step{
			{
				Say: "w1 claims jobs, one after the other. 2,000 wait, and hardly any are finished. The plot shows how long a claim takes.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					base, err = looks(ctx, s, 10)
					return err
				},
				Expect: []Expect{
					{Text: "a claim is a matter of milliseconds", Within: atOnce, Holds: func(context.Context, *Stage) (bool, string, error) {
						return base < 50*time.Millisecond, base.String(), nil
					}},
				},
			},
			{
				Say: "Somebody drops the index. The table is small, so nobody notices. Then the months pass: a million finished jobs pile up. Watch the claims, which have to read them all to find one that waits.",
				Do: func(ctx context.Context, s *Stage) error {
					s.Mark(shown, "index dropped")
					if err := faults.DropReadyIndex(ctx, s.Q); err != nil {
						return err
					}
					_, err := while(ctx, s, func(ctx context.Context) error { return s.history(ctx, history) })
					if err != nil {
						return err
					}
					worst, err = looks(ctx, s, 2)
					return err
				},
				Expect: []Expect{
					{Text: "1,000,000 finished jobs are in the table", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						depths, err := s.Depths(ctx)
						n := int64(0)
						for _, d := range depths {
							n += d.Completed
						}
						return n >= history, fmt.Sprintf("%d are", n), err
					}},
					{Text: "a claim takes 10 times as long, and more", Within: atOnce, Holds: func(context.Context, *Stage) (bool, string, error) {
						return worst > 10*base, fmt.Sprintf("%v after %v", worst, base), nil
					}},
				},
			},
			{
				Say: "We build the index again, CONCURRENTLY: nobody is locked out meanwhile, w1 goes on as well as it can. Watch its claims fall back to where they were, with the million jobs still there.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					s.Mark(shown, "CREATE INDEX")
					bar := Bar{Name: "index", Unit: "blocks"}
					meanwhile, err = while(ctx, s, func(ctx context.Context) error {
						return faults.BuildReadyIndex(ctx, s.Q, func(done, of int64) {
							bar.Value, bar.Most = float64(done), float64(of)
							s.Bar(bar)
						})
					})
					bar.Value, bar.Over = bar.Most, true
					s.Bar(bar)
					if err != nil {
						return err
					}
					s.Mark(shown, "it is there")
					healed, err = looks(ctx, s, 20)
					return err
				},
				Expect: []Expect{
					{Text: "w1 claimed jobs while it was built", Within: atOnce, Holds: func(context.Context, *Stage) (bool, string, error) {
						return meanwhile > 0, fmt.Sprintf("it claimed %d", meanwhile), nil
					}},
					{Text: "claims are quick again: under a fifth", Within: atOnce, Holds: func(context.Context, *Stage) (bool, string, error) {
						return 5*healed < worst, fmt.Sprintf("%v after %v", healed, worst), nil
					}},
				},
			},
		},
		Measures: []Measure{
			{
				Name: "times", Text: "a claim without the index takes so many times as long", Bound: AtLeast(10),
				Value: func(context.Context, *Stage) (float64, error) { return worst.Seconds() / healed.Seconds(), nil },
			},
			{
				Name: "without", Text: "a claim without the index, among a million finished jobs", Unit: "ms",
				Value: func(context.Context, *Stage) (float64, error) { return inMilliseconds(worst), nil },
			},
			{
				Name: "with", Text: "and with it", Unit: "ms",
				Value: func(context.Context, *Stage) (float64, error) { return inMilliseconds(healed), nil },
			},
		},
	}
}

// history adds finished jobs, all in one statement, and shows how far it is.
func (s *Stage) history(ctx context.Context, n int) error {
	conn, err := s.Q.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var before int64
	if err := conn.QueryRow(ctx, s.Q.Schema().Query("scenario_history_progress")).Scan(&before); err != nil {
		return err
	}
	show := func(done int64, over bool) {
		s.Bar(Bar{Name: "finished jobs", Value: float64(done), Unit: "jobs", Most: float64(n), Over: over})
	}
	adding, added := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-adding.Done():
				return
			case <-tick.C:
			}
			var now int64
			if err := s.Q.Pool().QueryRow(adding, s.Q.Schema().Query("scenario_history_progress")).Scan(&now); err == nil {
				show(min(now-before, int64(n)), false)
			}
		}
	}()
	_, err = conn.Exec(ctx, s.Q.Schema().Query("scenario_history"), s.Queue(""), n)
	added()
	<-watched
	if err != nil {
		return fmt.Errorf("add finished jobs: %w", err)
	}
	show(int64(n), true)
	return nil
}
