package ui

import (
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// planRun is a plan that this process executes, in the background.
type planRun struct {
	id    int64
	again bool // it was told to go on while it was ending

	mu     sync.Mutex
	latest queue.Plan
	err    error         // it is tried again after this
	told   chan struct{} // there is something newer than was taken
	over   chan struct{}
}

// tell takes the plan as it is now, or why it does not get on.
func (r *planRun) tell(plan queue.Plan, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.latest = plan
	}
	r.err = err
	select {
	case r.told <- struct{}{}:
	default:
	}
}

func (r *planRun) news() (queue.Plan, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest, r.err
}

// executePlan executes a plan here until there is nothing more to do for it. Where the
// database cannot be reached it is tried again.
func (a *app) executePlan(id int64) tea.Cmd {
	if run := a.plans.runs[id]; run != nil {
		run.again = true
		return nil
	}
	run := &planRun{id: id, told: make(chan struct{}, 1), over: make(chan struct{})}
	if a.plans.runs == nil {
		a.plans.runs = map[int64]*planRun{}
	}
	a.plans.runs[id] = run
	return tea.Batch(func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = faultMsg{caught(r)}
			}
		}()
		defer close(run.over)
		if !a.plans.work.begin() {
			return nil
		}
		defer a.plans.work.end()
		plan, err := a.carryOut(run)
		a.cfg.Feed.Refresh()
		m := planRanMsg{run: run, plan: plan, err: err}
		if err == nil && plan.Skipped > 0 {
			m.skips, _ = a.cfg.Jobs.PlanJobs(a.ctx, id, 0, 3, "skipped") // the counts say enough without
		}
		return m
	}, a.listenPlan(run))
}

// carryOut executes a plan, again and again while the database does not answer.
func (a *app) carryOut(run *planRun) (queue.Plan, error) {
	failed := time.Time{}
	for {
		plan, err := a.cfg.Jobs.ExecutePlan(a.ctx, run.id, func(p queue.Plan) {
			failed = time.Time{}
			run.tell(p, nil)
		})
		switch {
		case err == nil, a.ctx.Err() != nil, hopeless(err):
			return plan, err
		// Its own lease may be what is in its way after a connection was lost.
		case errors.Is(err, queue.ErrPlanTaken) && (failed.IsZero() || time.Since(failed) > time.Minute):
			return plan, err
		}
		if failed.IsZero() {
			failed = time.Now()
		}
		run.tell(plan, err)
		if !a.sleep(a.ctx, afterError) {
			return plan, err
		}
	}
}

// hopeless tells that trying again would not help.
func hopeless(err error) bool {
	for _, final := range []error{queue.ErrPlanState, queue.ErrNotFound, queue.ErrForbidden, queue.ErrSchemaMissing, errors.ErrUnsupported} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// listenPlan waits for what an execution tells, at the screen's own pace.
func (a *app) listenPlan(run *planRun) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-run.told:
		case <-run.over:
			return nil
		case <-a.ctx.Done():
			return nil
		}
		if !a.sleep(a.ctx, planFrame) {
			return nil
		}
		return planToldMsg{run}
	}
}
