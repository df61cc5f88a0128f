package stories

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/internal/without"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	raceWorkers  = 16
	raceJobs     = 6000
	raceDistance = 500 * time.Microsecond // one way
	raceTime     = 4 * time.Second

	// atOnce is for what the act has decided already.
	atOnce = time.Millisecond
)

// clearly is how many times as many jobs are more of them, also where the machine is busier
// in one race than in another. Alone on two cores it is six and four times.
const clearly = 1.5

// race has three ways to claim compete: a look without a lock, FOR UPDATE, and
// FOR UPDATE SKIP LOCKED. Each has the machine to itself in its turn.
func race() scenario.Scenario {
	var (
		naive    = &racer{name: "naive", queue: "naive", app: "leasetop race naive", claim: faults.Naive}
		blocking = &racer{name: "FOR UPDATE", queue: "for-update", app: "leasetop race for update", claim: faults.Blocking}
		skipping = &racer{name: "SKIP LOCKED", queue: "skip-locked", app: "leasetop race skip locked", claim: faults.Skipping}
	)
	runs := func(r *racer) func(ctx context.Context, s *scenario.Stage) error {
		return func(ctx context.Context, s *scenario.Stage) error {
			return r.run(ctx, s, raceWorkers, raceDistance, raceTime)
		}
	}
	once := func(r *racer) scenario.Expect {
		return scenario.Expect{Text: r.name + ": no job was claimed twice", Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
			return r.twice() == 0, fmt.Sprintf("%d claims were of a job that another had", r.twice()), nil
		}}
	}
	return scenario.Scenario{
		Name:  "race",
		Title: "Three ways to claim a job",
		Shows: "Without a lock, workers take the same jobs. With FOR UPDATE they wait for each other. With SKIP LOCKED they do neither: each takes the next job that nobody holds.",
		Needs: scenario.Queue, Lasts: 14 * time.Second,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			if s.Lacks(without.SkipLocked) {
				skipping.claim = faults.Blocking
			}
			s.Exempt(naive.queue) // it does jobs twice on purpose
			for _, r := range []*racer{naive, blocking, skipping} {
				jobs := make([]queue.NewJob, raceJobs)
				for i := range jobs {
					jobs[i].Queue = r.queue
				}
				if _, err := s.Enqueue(ctx, jobs...); err != nil {
					return err
				}
				s.Bar(r.bar(false))
			}
			return nil
		},
		Steps: []scenario.Step{
			{
				Name: "Naive",
				Say:  "Three queues of 6,000 jobs. 16 workers have 4 s for each; a round trip takes 1 ms. The naive look for the first job, then write to its row: even they wait, where another writes to it. A duplicate is a job claimed again.",
				Do:   runs(naive),
				Expect: []scenario.Expect{{Text: "naive: the same jobs were claimed again and again", Harm: true, Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
					return naive.twice() > naive.done(), fmt.Sprintf("%s duplicates, %s jobs done", thousands(naive.twice()), thousands(naive.done())), nil
				}}},
			},
			{
				Name: "FOR UPDATE",
				Say:  "FOR UPDATE locks the first job until its claim is committed. Nobody gets it twice now. But all 16 want that same job: one has it, the others wait for the lock, and then for that of the next.",
				Do:   runs(blocking),
				Expect: []scenario.Expect{
					once(blocking),
					{Text: "FOR UPDATE: on average 4 of the 16 wait, or more", Harm: true, Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						return blocking.stood() >= raceWorkers/4, fmt.Sprintf("%.1f of %d wait", blocking.stood(), raceWorkers), nil
					}},
				},
			},
			{
				Name: "SKIP LOCKED",
				Say:  "FOR UPDATE SKIP LOCKED passes over what is locked, and takes the first job that nobody holds. No duplicates, hardly any waiting: compare how far the bar comes in its 4 s.",
				Do:   runs(skipping),
				Expect: []scenario.Expect{
					once(skipping),
					// A claim that met a row just claimed by another has locked it before it sees that,
					// and its owner must wait until that claim is committed. On a busy machine it shows.
					{Text: "SKIP LOCKED: hardly anybody waits for a lock", Within: atOnce, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						return skipping.stood() < blocking.stood()/4, fmt.Sprintf("%.1f of %d wait", skipping.stood(), raceWorkers), nil
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "duplicates", Text: "SKIP LOCKED: duplicates", Bound: scenario.Exactly(0),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(skipping.twice()), nil },
			},
			{
				Name: "waiting_for_a_lock", Text: "SKIP LOCKED: who waits", Unit: "of 16", Bound: scenario.AtMost(2),
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return math.Round(skipping.stood()*100) / 100, nil
				},
			},
			{
				Name: "times_as_many_as_naive", Text: "jobs, against naive", Unit: "times", Bound: scenario.AtLeast(clearly),
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return skipping.perSecond() / naive.perSecond(), nil
				},
			},
			{
				Name: "times_as_many_as_for_update", Text: "jobs, against FOR UPDATE", Unit: "times", Bound: scenario.AtLeast(clearly),
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return skipping.perSecond() / blocking.perSecond(), nil
				},
			},
		},
	}
}
