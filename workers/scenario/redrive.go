package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/workers/internal/without"
)

const (
	letters     = 200 // that die of the release's bug
	canary      = 5   // of them go first
	redrivePace = 50  // jobs a second after it
	charges     = 12  // that died of something else
)

// redrive is the second half of every incident: the cause is put right, or so they think,
// and the heap of dead letters has to come back.
func redrive() Scenario {
	var (
		release = &release{}
		plans   = &planner{}
		heap    []int64 // the letters
		others  []int64 // the charges
		died    map[int64]time.Time
	)
	return Scenario{
		Name:  "redrive",
		Title: "A redrive after a fix that was none",
		Shows: "A redrive tries a few dead letters first. When the fix is bad it stops by itself, and that costs five jobs, not two hundred.",
		Needs: Queue, Lasts: 9 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) (err error) {
			_, err = s.Crew(ctx, CrewOptions{Workers: []string{"w1", "w2"}, Queues: []string{"mail", "bank"}, Slots: 8, Conns: 6, Work: release.work})
			return err
		},
		Steps: []Step{
			{
				Say: "A release with a bug is out, and 200 letters die of it: three templates, three errors, three groups of dead letters. Twelve charges die too, of a reason of their own: their cards have expired.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					heap, others, err = s.incident(ctx)
					return err
				},
				Expect: []Expect{
					{Text: "200 letters are dead, in three groups", Within: 15 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return s.deadGroups(ctx, "mail", letters, 3)
					}},
					{Text: "12 charges are dead, in one", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return s.deadGroups(ctx, "bank", charges, 1)
					}},
				},
			},
			{
				Say: "We ship a fix and plan a redrive of the letters: five go first, the canary. The others follow only if none of the five dies again. What we do not know yet: the fix is bad.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					if died, err = s.diedAt(ctx, others); err != nil {
						return err
					}
					release.ship(badFix)
					plan := queue.NewPlan{Canary: canary, StopAt: new(int), Reason: "templates fixed"}
					if s.lacks(without.Canary) {
						plan.Canary, plan.StopAt = 0, nil
					}
					return plans.start(ctx, s, plan)
				},
				Expect: []Expect{
					{Text: "the canary dies again, and the plan stops by itself", Within: 10 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return plans.stands(ctx, s, queue.PlanStopped)
					}},
					{Text: "five died again, 195 were not touched", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						plan, err := s.Q.Plan(ctx, plans.id)
						ok := plan.Waiting == letters-canary && plan.DiedAgain == canary && release.tried(badFix) == canary
						return ok, fmt.Sprintf("%d wait, %d died again", plan.Waiting, plan.DiedAgain), err
					}},
				},
			},
			{
				Say: "We give that plan up and ship a better fix. The new plan is for the same 200 letters, with a canary again, and this time it waits for our word after it.",
				Do: func(ctx context.Context, s *Stage) error {
					if err := plans.cancel(ctx, s, "the fix was bad"); err != nil {
						return err
					}
					release.ship(goodFix)
					return plans.start(ctx, s, queue.NewPlan{Canary: canary, Wait: true, Pace: redrivePace, StopAt: new(int), Reason: "templates fixed, at last"})
				},
				Expect: []Expect{
					{Text: "five letters are done, and the plan waits for us", Within: 10 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						if ok, seen, err := plans.stands(ctx, s, queue.PlanHeld); !ok || err != nil {
							return false, seen, err
						}
						done, seen, err := s.completedIn(ctx, "mail")
						return done == canary, seen, err
					}},
				},
			},
			{
				Say: "All five went well. We say go on: the others follow at 50 a second, so that whatever is behind the workers can keep up. Watch the dead letters melt away; the charges stay.",
				Do:  plans.goOn,
				Expect: []Expect{
					{Text: "all 200 letters are completed", Within: 30 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return s.AllCompleted(ctx, heap...)
					}},
					{Text: "the plan is done", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return plans.stands(ctx, s, queue.PlanDone)
					}},
					{Text: "the 12 charges lie as they lay", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						now, err := s.diedAt(ctx, others)
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
		Measures: []Measure{
			{
				Name: "cost", Text: "letters that the bad fix was tried on", Unit: "jobs", Bound: Exactly(canary),
				Value: func(context.Context, *Stage) (float64, error) { return float64(release.tried(badFix)), nil },
			},
			{
				Name: "pace", Text: "redriven after the canary", Unit: "jobs/s", Bound: AtMost(1.25 * redrivePace), Timed: true,
				Value: plans.pace,
			},
		},
	}
}

// release is the workers' program, of which the handlers of letters are a part.
type release struct {
	version atomic.Int32
	mu      sync.Mutex
	tries   [goodFix + 1]int // of letters, by version
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

func (r *release) ship(version int32) { r.version.Store(version) }

func (r *release) tried(version int32) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries[version]
}

// work renders a letter, or charges a card.
func (r *release) work(_ context.Context, job *queue.Job) error {
	if job.Kind == charge {
		return queue.Permanent(fmt.Errorf("the card of customer %d has expired", job.ID))
	}
	version := r.version.Load()
	r.mu.Lock()
	r.tries[version]++
	r.mu.Unlock()
	switch version {
	case goodFix:
		return nil
	case badFix:
		return queue.Permanent(fmt.Errorf("render letter %d: unclosed action", job.ID))
	}
	for _, template := range templates {
		if template.kind == job.Kind {
			return queue.Permanent(fmt.Errorf(template.bug, job.ID))
		}
	}
	return nil
}

// incident enqueues what dies of the release. The larger part of the letters is of the
// first template, the smaller of the last; in which order they come is decided by lot.
func (s *Stage) incident(ctx context.Context) (heap, others []int64, err error) {
	var jobs []queue.NewJob
	for i, n := range []int{120, 60, letters - 120 - 60} {
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
func (s *Stage) deadGroups(ctx context.Context, name string, jobs, problems int64) (bool, string, error) {
	where, err := filter.Parse("queue:" + s.Queue(name))
	if err != nil {
		return false, "", err
	}
	dead, err := s.Q.DeadGroups(ctx, where, 0)
	return dead.Total == jobs && int64(len(dead.Groups)) == problems, fmt.Sprintf("%d are dead, in %d groups", dead.Total, len(dead.Groups)), err
}

// completedIn counts the completed jobs of a queue.
func (s *Stage) completedIn(ctx context.Context, name string) (n int64, seen string, err error) {
	depths, err := s.Depths(ctx)
	for _, d := range depths {
		if d.Queue == s.Queue(name) {
			n = d.Completed
		}
	}
	return n, fmt.Sprintf("%d are completed", n), err
}

// diedAt is when these jobs died.
func (s *Stage) diedAt(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	jobs, err := s.Q.ByID(ctx, ids...)
	died := make(map[int64]time.Time, len(jobs))
	for i := range jobs {
		if jobs[i].DiedAt != nil {
			died[jobs[i].ID] = *jobs[i].DiedAt
		}
	}
	return died, err
}

// planner starts and executes redrive plans, one at a time, as the dashboard does for
// the person before it.
type planner struct {
	id    int64
	fails chan error    // of the execution
	over  chan struct{} // closed when it has ended
}

// start starts a plan for all dead letters of the mail queue, which a filter chooses.
func (p *planner) start(ctx context.Context, s *Stage, plan queue.NewPlan) error {
	plan.Filter = "queue:" + s.Queue("mail")
	where, err := filter.Parse(plan.Filter)
	if err != nil {
		return err
	}
	plan.IDs, err = s.Q.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, nil)
	if err != nil {
		return err
	}
	started, err := s.Q.StartPlan(ctx, s.operator(), plan)
	if err != nil {
		return err
	}
	p.id = started.ID
	s.Note("", fmt.Sprintf("plan %d: redrive %d dead letters, %d first", p.id, started.Total, started.Canary))
	p.execute(ctx, s)
	return nil
}

// execute has the plan executed until there is nothing to do for now.
func (p *planner) execute(ctx context.Context, s *Stage) {
	ctx, cancel := context.WithCancel(ctx)
	fails := make(chan error, 1)
	over := make(chan struct{})
	p.fails, p.over = fails, over
	id := p.id
	go func() {
		defer close(over)
		plan, err := s.Q.ExecutePlan(ctx, id, func(plan queue.Plan) { s.Plot("redriven", "jobs", float64(plan.Redriven)) })
		if err != nil {
			fails <- err
			return
		}
		s.Note("", fmt.Sprintf("plan %d is %s", id, plan.State))
	}()
	s.Later("end the execution of the plan", func(context.Context) error {
		cancel()
		<-over
		return nil
	})
}

// stands tells whether the plan is in a state.
func (p *planner) stands(ctx context.Context, s *Stage, state queue.PlanState) (bool, string, error) {
	plan, err := s.Q.Plan(ctx, p.id)
	select {
	case failed := <-p.fails:
		err = errors.Join(err, failed)
		p.fails <- failed // for the next look
	default:
	}
	return plan.State == state, fmt.Sprintf("plan %d is %s: %d redriven, %d died again", p.id, plan.State, plan.Redriven, plan.DiedAgain), err
}

func (p *planner) cancel(ctx context.Context, s *Stage, why string) error {
	_, err := s.Q.CancelPlan(ctx, s.operator(), why, p.id)
	return err
}

// goOn resumes the plan, once nobody is at it any more: one process at a time may be.
func (p *planner) goOn(ctx context.Context, s *Stage) error {
	select {
	case <-p.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, err := s.Q.ResumePlan(ctx, s.operator(), "the canary went well", p.id); err != nil {
		return err
	}
	p.execute(ctx, s)
	return nil
}

// pace is how many jobs a second were redriven after the canary.
func (p *planner) pace(ctx context.Context, s *Stage) (float64, error) {
	jobs, err := s.Q.PlanJobs(ctx, p.id, 0, letters)
	if err != nil {
		return 0, err
	}
	if len(jobs) != letters || jobs[canary].At == nil || jobs[letters-1].At == nil {
		return 0, fmt.Errorf("%d jobs are in plan %d", len(jobs), p.id)
	}
	took := jobs[letters-1].At.Sub(*jobs[canary].At)
	return float64(letters-canary) / took.Seconds(), nil
}

// operator is who the play is in the operator log and in the history of jobs.
func (s *Stage) operator() string { return "scenario " + s.run }
