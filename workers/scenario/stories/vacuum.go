package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/internal/without"
	"github.com/leasetop/leasetop/workers/scenario"
)

// vacuum shows what a long transaction does to claims, and what the low-water mark is for.
func vacuum() scenario.Scenario {
	const (
		marked, unmarked = "claim from the mark", "claim from the start"
		batch            = 10_000          // jobs that go through between two looks
		before, under    = 5, 20           // batches
		longer           = 2 * time.Minute // than each step takes
	)
	var (
		worker       *probe
		act          deed
		claim        func(context.Context) (time.Duration, error)
		release      func() error
		with, plain  []time.Duration // the claims of this step, and
		steady, peak time.Duration   // those at the worst moment
		calm         time.Duration   // from the start, before that
	)
	// latest is the middle one of the last few: one that was disturbed does not count.
	latest := func(all []time.Duration, few int) time.Duration { return middle(all[max(0, len(all)-few):]) }
	// look times claims of both kinds, and plots them.
	look := func(ctx context.Context, s *scenario.Stage) error {
		both, err := costs(ctx, claim, worker.claimFromStart)
		if err != nil {
			return err
		}
		w, p := both[0], both[1]
		with, plain = append(with, w), append(plain, p)
		s.Plot(unmarked, "ms", inMilliseconds(latest(plain, 3)))
		s.Plot(marked, "ms", inMilliseconds(latest(with, 3)))
		return nil
	}
	// rounds have a batch go through each, and VACUUM run after every so many.
	rounds := func(ctx context.Context, s *scenario.Stage, n, clear int) error {
		with, plain = nil, nil
		for i := range n {
			if err := worker.flow(ctx, batch, batch); err != nil {
				return err
			}
			if (i+1)%clear == 0 {
				if err := runVacuum(ctx, s); err != nil {
					return err
				}
			}
			if err := look(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
	// lately is what claims took in the end.
	lately := func(all []time.Duration) time.Duration { return latest(all, 5) }
	return scenario.Scenario{
		Name:  "vacuum",
		Title: "A long transaction holds VACUUM up",
		Shows: "Claimed jobs leave old entries at the head of the index. While a long transaction is open VACUUM may not clear them away, and every claim walks over them. A mark, which is where the last claim found work, skips them.",
		Needs: scenario.Schema, Lasts: 8 * time.Second,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			if worker, err = newProbe(ctx, s, "w1"); err != nil {
				return err
			}
			claim = worker.claim
			if s.Lacks(without.Mark) {
				claim = worker.claimFromStart
			}
			return worker.flow(ctx, 1000, 0) // enough for all claims that are timed
		},
		Steps: []scenario.Step{
			{
				Name: "VACUUM keeps up",
				Say:  "50,000 jobs will go through, and VACUUM clears up behind them. A worker claims in two ways: from the start of the index, or from its mark, a note of where its last claim found work. Watch: both are quick.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					err := rounds(ctx, s, before, 1)
					calm = lately(plain)
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "both ways are about as quick", Within: longer, Holds: act.done(func() (bool, string) {
						return lately(plain) < 5*lately(with), fmt.Sprintf("%v, and %v", lately(plain), lately(with))
					})},
				},
			},
			{
				Name: "A long report",
				Say:  "A report opens a transaction and keeps it. 200,000 more jobs go through, and VACUUM may not remove their old index entries: the report might look at them. Watch claims from the start climb, and from the mark not.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					var err error
					if release, err = faults.PinVacuum(ctx, s.Q); err != nil {
						return err
					}
					s.Later("end the long transaction", func(context.Context) error { return release() })
					s.Note("", "the report's transaction began")
					s.Mark(marked, "report begins")
					s.Mark(unmarked, "report begins")
					err = rounds(ctx, s, under, 5)
					steady, peak = lately(with), lately(plain)
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "from the start: 5 times as slow as before", Harm: true, Within: longer, Holds: act.done(func() (bool, string) {
						return peak > 5*calm, fmt.Sprintf("%v, before %v", peak, calm)
					})},
					{Text: "from the mark: 5 times as quick as that", Within: longer, Holds: act.done(func() (bool, string) {
						return 5*steady < peak, fmt.Sprintf("%v, from the start %v", steady, peak)
					})},
				},
			},
			{
				Name: "The report ends",
				Say:  "We end the report. VACUUM runs once more, and removes what it had to leave: watch claims from the start become quick again. leasetop claims from its mark: it was quick all the while.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					if err := release(); err != nil {
						return err
					}
					s.Note("", "the report's transaction is over")
					s.Mark(marked, "report ends")
					s.Mark(unmarked, "report ends")
					if err := runVacuum(ctx, s); err != nil {
						return err
					}
					with, plain = nil, nil
					return paced(ctx, 2*before, func() error { return look(ctx, s) })
				}),
				Expect: []scenario.Expect{
					{Text: "from the start: quick again, under a third", Within: longer, Holds: act.done(func() (bool, string) {
						return 3*lately(plain) < peak, fmt.Sprintf("%v after %v", lately(plain), peak)
					})},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "times_as_long_from_start", Text: "start: times as long", Harm: true, After: 2, Bound: scenario.AtLeast(5),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return peak.Seconds() / steady.Seconds(), nil },
			},
			{
				Name: "claim_from_mark", Text: "mark: a claim takes", Unit: "ms", After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(steady), nil },
			},
			{
				Name: "claim_from_start", Text: "start: a claim takes", Unit: "ms", After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(peak), nil },
			},
		},
	}
}
