package stories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	soakLease = 3 * time.Second
	// A soak's load is some 40 jobs a second, of which one in fifty takes longer than a lease.
	soakEvery    = 25 * time.Millisecond
	soakLongEach = 50
	// settling is how long what is left may take once nothing breaks any more.
	settling = 2 * time.Minute
)

// soakHandlers is the name of what a soak's worker processes run.
const soakHandlers = "scenario soak"

func init() {
	faults.Register(soakHandlers, func(q *queue.Queue) *workers.Handlers {
		h := workers.NewHandlers()
		h.Kind(soakKind, func(ctx context.Context, job *queue.Job) error {
			if err := scenario.Labour(ctx, job); err != nil {
				return err
			}
			return scenario.Complete(ctx, q, job.Queue, job) // the play's only queue is named after it
		}, workers.WithBackoff(promptly))
		return h
	})
}

// soakKind is the kind of a soak's jobs.
const soakKind = "soak"

// Soak is a story without a plot: random faults under load for as long as is asked for,
// which the seed decides. It is not among [All]. Its bars count the faults by name.
func Soak(lasts time.Duration) scenario.Scenario {
	var (
		b     = &breakage{busy: map[any]bool{}, counts: map[string]int{}}
		load  traffic
		began time.Time
		took  time.Duration
	)
	return scenario.Scenario{
		Name:  "soak",
		Title: fmt.Sprintf("Random faults for %v", lasts),
		Shows: "Whatever breaks, and in whatever order: no acknowledged job is lost, and no effect happens twice.",
		Needs: scenario.Server, Lasts: lasts + 20*time.Second, Flows: true,
		Setup: func(ctx context.Context, s *scenario.Stage) error { return b.setUp(ctx, s) },
		Steps: []scenario.Step{
			{
				Say: "This play has a server of its own. Three crews of two workers each, and two worker processes, do about 40 jobs a second; one in fifty takes longer than its lease of 3 s.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					plotThroughput(s)
					load.Load = s.LoadOf(soakEvery, soakJob)
					load.mark(s, "")
					began = time.Now()
					return nil
				},
				Expect: []scenario.Expect{load.flows("jobs are completed")},
			},
			{
				Say: "Now something breaks about once a second: workers crash, freeze and drain, processes are killed, networks fail, wake-ups are lost, the server restarts. Watch the invariants.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					err := b.goOn(ctx, s, time.Now().Add(lasts))
					load.mark(s, "mended")
					return err
				},
				Expect: []scenario.Expect{load.flows("all is mended, and jobs are completed")},
			},
			{
				Say: "Nothing breaks any more, and no more jobs come. What is left must be done now, and all of it must have happened once. Effects are counted wherever a job was done, overlaps only among the crews.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					load.end(s)
					took = time.Since(began)
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "every job is completed", Within: settling, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						depths, err := s.Depths(ctx)
						if err != nil || len(depths) != 1 {
							return false, fmt.Sprintf("%v", depths), err
						}
						d := depths[0]
						return d.Pending+d.Processing+d.Failed+d.Dead == 0, fmt.Sprintf("%+v", d), nil
					}},
					{Text: "each has had its effect, once", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						inv, err := s.Invariants(ctx)
						return inv.Lost == 0 && inv.Doubled == 0 && inv.Effects >= int64(len(load.Jobs())), fmt.Sprintf("%+v", inv), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{Name: "faults", Text: "that happened", Bound: scenario.AtLeast(1), Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(b.total()), nil }},
			{Name: "effects", Text: "of jobs", Bound: scenario.AtLeast(1), Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				return float64(inv.Effects), err
			}},
			{Name: "rate", Text: "jobs completed, on average", Unit: "jobs/s", Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				return float64(inv.Effects) / took.Seconds(), err
			}},
			{Name: "fenced", Text: "stale writes that changed nothing", Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				return float64(inv.Fenced), err
			}},
			{Name: "recovery", Text: "latest reclaim after a lease's end, of those that a reaper could watch", Unit: "ms", Bound: scenario.AtMost(milliseconds(workers.RecoveryBound)), Timed: true, Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				if err != nil {
					return 0, err
				}
				return worstOf(inv.Recovery)
			}},
			{Name: "watched", Text: "reclaims of which that is the latest", Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				return float64(inv.Recovery.Judged), err
			}},
			{Name: "unwatched", Text: "later ones, of leases that ran out while something kept the reapers from their work", Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				inv, err := s.Invariants(ctx)
				return float64(inv.Recovery.Unwatched), err
			}},
		},
	}
}

// worstOf is the worst recovery in milliseconds. Where there was none to judge there is no figure.
func worstOf(r workers.Recovery) (float64, error) {
	switch {
	case r.Judged > 0:
		return milliseconds(r.Worst), nil
	case r.Unwatched > 0:
		return 0, fmt.Errorf("all %d reclaims were later than %v, and none was watched", r.Unwatched, workers.RecoveryBound)
	}
	return 0, scenario.ErrNothingMeasured
}

// soakJob is a job that is tried as often as it takes: which breaks is not its fault.
func soakJob(lot *rand.Rand) queue.NewJob {
	job := scenario.ShortLabour(lot)
	if lot.IntN(soakLongEach) == 0 {
		job = scenario.LabourBetween(lot, soakLease/2, 2*soakLease)
	}
	job.Kind, job.MaxAttempts = soakKind, 1_000_000
	return job
}

// goOn breaks one thing after another until a time, and mends what was broken.
func (b *breakage) goOn(ctx context.Context, s *scenario.Stage, until time.Time) error {
	for time.Now().Before(until) {
		if err := b.next(ctx, s); err != nil {
			return err
		}
		if err := b.rest(ctx, s, time.Now().Add(between(s.Rand, 300*time.Millisecond, 1500*time.Millisecond))); err != nil {
			return err
		}
		if inv := s.Picture().Invariants; !inv.Kept() {
			return errors.Join(b.mend(ctx), fmt.Errorf("the queue broke its promise: %d lost, %d effects too many, %d overlaps", inv.Lost, inv.Doubled, inv.Overlaps))
		}
	}
	return b.mend(ctx)
}

// between is a time by lot.
func between(lot *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(lot.Int64N(int64(most-least)))
}
