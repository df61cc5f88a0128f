package stories

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/workers/internal/without"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	heapSize    = 200 // mails that die of the release's bug
	canary      = 5   // of them go first
	redrivePace = 50  // jobs a second after it
	charges     = 12  // that died of something else
	// rendering is how long a mail takes, long enough to be seen.
	rendering = 80 * time.Millisecond
	// canaryTakes is how long each of a canary takes: it is what is to be watched.
	canaryTakes = time.Second
)

// redrive is the second half of every incident: the cause is put right, or so they think,
// and the heap of dead letters has to come back.
func redrive() scenario.Scenario {
	var (
		release = &release{}
		plans   = &planner{}
		heap    []int64 // the mails
		others  []int64 // the charges
		died    map[int64]time.Time
	)
	return scenario.Scenario{
		Name:  "redrive",
		Title: "A redrive after a fix that was none",
		Shows: "A redrive tries dead letters again, a few of them first. When the fix is bad it stops by itself, and that costs five jobs, not two hundred.",
		Needs: scenario.Queue, Lasts: 8 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			_, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1", "w2"}, Queues: []string{"mail", "bank"}, Slots: 8, Conns: 6, Work: release.work})
			showHeap(s, func() bool { return release.version.Load() == buggy })
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "A bad release",
				Say: "A release with a bug goes out, and 200 mails die of it: three templates, three errors. As dead letters they lie aside " +
					"until somebody looks at them. Twelve charges die too, of something else: their cards have expired.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					heap, others, err = incident(ctx, s)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "200 mails are dead, in three groups", Harm: true, Within: 15 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return deadGroups(ctx, s, "mail", heapSize, 3)
					}},
					{Text: "12 charges are dead, in one", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return deadGroups(ctx, s, "bank", charges, 1)
					}},
				},
			},
			{
				Name: "A fix, on five first",
				Say:  "We ship a fix and plan a redrive: the 200 mails are to be tried again, five first, the canary; the others only if none of the five dies again. We do not know whether the fix is good. Watch the bar of plan 1.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if died, err = diedAt(ctx, s, others); err != nil {
						return err
					}
					release.ship(badFix)
					plan := queue.NewPlan{Canary: canary, StopAt: new(int), Reason: "templates fixed"}
					if s.Lacks(without.Canary) {
						plan.Canary, plan.StopAt = 0, nil
					}
					return plans.start(ctx, s, plan)
				},
				Expect: []scenario.Expect{
					{Text: "the canary dies again, and plan 1 stops by itself", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return plans.stands(ctx, s, queue.PlanStopped)
					}},
					{Text: "five died again, 195 were not touched", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						plan, err := s.Q.Plan(ctx, plans.id)
						ok := plan.Waiting == heapSize-canary && plan.DiedAgain == canary && release.tried(badFix) == canary
						return ok, fmt.Sprintf("%d wait, %d died again", plan.Waiting, plan.DiedAgain), err
					}},
				},
			},
			{
				Name: "A better fix",
				Say: "Plan 1 stopped by itself: 195 mails were spared the bad fix. We give it up and ship a better one. Plan 2 is for the " +
					"same 200 mails, five first again; after these it is held, as we wish, until we say go on.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					if err := plans.cancel(ctx, s, "the fix was bad"); err != nil {
						return err
					}
					release.ship(goodFix)
					return plans.start(ctx, s, queue.NewPlan{Canary: canary, Wait: true, Pace: redrivePace, StopAt: new(int), Reason: "templates fixed, at last"})
				},
				Expect: []scenario.Expect{
					{Text: "five mails are done, and plan 2 is held for us", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						if ok, seen, err := plans.stands(ctx, s, queue.PlanHeld); !ok || err != nil {
							return false, seen, err
						}
						done, seen, err := completedIn(ctx, s, "mail")
						return done == canary, seen, err
					}},
				},
			},
			{
				Name: "The rest follows",
				Say:  "All five went well. We say go on: plan 2 sends the other 195 at 50 a second, so that whatever is behind the workers can keep up. Watch its bar fill, and the dead mails melt away; the 12 charges stay.",
				Do:   plans.goOn,
				Expect: []scenario.Expect{
					{Text: "all 200 mails are completed", Within: 30 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, heap...)
					}},
					{Text: "plan 2 is done", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return plans.stands(ctx, s, queue.PlanDone)
					}},
					{Text: "the 12 charges lie as they lay", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						now, err := diedAt(ctx, s, others)
						same := 0
						for id, at := range died {
							if now[id].Equal(at) {
								same++
							}
						}
						return same == charges, fmt.Sprintf("%d of them", same), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "cost", Text: "bad fix: mails tried", Unit: "mails", Bound: scenario.Exactly(canary), After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(release.tried(badFix)), nil },
			},
			{
				Name: "pace", Text: "pace: 50/s + quarter", Unit: "jobs/s", Bound: scenario.AtMost(1.25 * redrivePace), Timed: true,
				Value: plans.pace,
			},
		},
	}
}

// release is the workers' program, of which the handlers of mails are a part.
type release struct {
	version atomic.Int32
	mu      sync.Mutex
	tries   [goodFix + 1]int // of mails, by version
}

// The versions of it.
const (
	buggy int32 = iota
	badFix
	goodFix
)

// The kinds of jobs: three templates, of which each has its own bug, and a charge.
var templates = []struct{ kind, bug string }{
	{"welcome", "welcome.tmpl: customer %d has no name"},
	{"receipt", "receipt.tmpl: order %d has no currency"},
	{"reminder", "reminder.tmpl: invoice %d has no due date"},
}

const charge = "charge"

// heapKinds are their names, in the order of the bars, and heapMost the most of any.
var heapKinds = []string{templates[0].kind, templates[1].kind, templates[2].kind, charge}

const heapMost = 120

func (r *release) ship(version int32) { r.version.Store(version) }

func (r *release) tried(version int32) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries[version]
}

// try counts that a version is tried on a mail, and tells how many it was tried on by now.
func (r *release) try(version int32) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[version]++
	return r.tries[version]
}

// work renders a mail, or charges a card.
func (r *release) work(ctx context.Context, job *queue.Job) error {
	if job.Kind == charge {
		if err := scenario.ToilFor(ctx, rendering); err != nil {
			return err
		}
		return queue.Permanent(fmt.Errorf("the card of customer %d has expired", job.ID))
	}
	version := r.version.Load()
	takes := rendering
	if n := r.try(version); version != buggy && n <= canary {
		takes = canaryTakes
	}
	if err := scenario.ToilFor(ctx, takes); err != nil {
		return err
	}
	switch version {
	case goodFix:
		return nil
	case badFix:
		return queue.Permanent(fmt.Errorf("render mail %d: unclosed action", job.ID))
	}
	for _, template := range templates {
		if template.kind == job.Kind {
			return queue.Permanent(fmt.Errorf(template.bug, job.ID))
		}
	}
	return nil
}

// incident enqueues what dies of the release. The larger part of the mails is of the
// first template, the smaller of the last; in which order they come is decided by lot.
func incident(ctx context.Context, s *scenario.Stage) (heap, others []int64, err error) {
	var jobs []queue.NewJob
	for i, n := range []int{heapMost, 60, heapSize - heapMost - 60} {
		jobs = append(jobs, slices.Repeat([]queue.NewJob{{Queue: "mail", Kind: templates[i].kind}}, n)...)
	}
	s.Rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	if heap, err = s.Enqueue(ctx, jobs...); err != nil {
		return nil, nil, err
	}
	others, err = s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{Queue: "bank", Kind: charge}}, charges)...)
	return heap, others, err
}

// deadGroups tells whether a queue has so many dead letters, which died of so many problems.
func deadGroups(ctx context.Context, s *scenario.Stage, name string, jobs, problems int64) (bool, string, error) {
	dead, err := deadIn(ctx, s, name)
	return dead.Total == jobs && int64(len(dead.Groups)) == problems, fmt.Sprintf("%d are dead, in %d groups", dead.Total, len(dead.Groups)), err
}

// deadIn are the dead letters of a queue by what they died of.
func deadIn(ctx context.Context, s *scenario.Stage, name string) (queue.DeadGroups, error) {
	where, err := filter.Parse("queue:" + s.Queue(name))
	if err != nil {
		return queue.DeadGroups{}, err
	}
	return s.Q.DeadGroups(ctx, where, 0)
}

// completedIn counts the completed jobs of a queue.
func completedIn(ctx context.Context, s *scenario.Stage, name string) (n int64, seen string, err error) {
	depths, err := s.Depths(ctx)
	for _, d := range depths {
		if d.Queue == s.Queue(name) {
			n = d.Completed
		}
	}
	return n, fmt.Sprintf("%d are completed", n), err
}

// diedAt is when these jobs died.
func diedAt(ctx context.Context, s *scenario.Stage, ids []int64) (map[int64]time.Time, error) {
	jobs, err := s.Q.ByID(ctx, ids...)
	died := make(map[int64]time.Time, len(jobs))
	for i := range jobs {
		if jobs[i].DiedAt != nil {
			died[jobs[i].ID] = *jobs[i].DiedAt
		}
	}
	return died, err
}
