package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
)

// Plans starts redrive plans, executes them and orders them about; *queue.Queue does.
type Plans interface {
	StartPlan(ctx context.Context, by string, p queue.NewPlan) (queue.Plan, error)
	Plan(ctx context.Context, id int64) (queue.Plan, error)
	Plans(ctx context.Context, before int64, limit int) ([]queue.Plan, error)
	PlanJobs(ctx context.Context, id, after int64, limit int, states ...string) ([]queue.PlanJob, error)
	ExecutePlan(ctx context.Context, id int64, told func(queue.Plan)) (queue.Plan, error)
	PausePlan(ctx context.Context, by, why string, id int64) (queue.Plan, error)
	ResumePlan(ctx context.Context, by, why string, id int64) (queue.Plan, error)
	CancelPlan(ctx context.Context, by, why string, id int64) (queue.Plan, error)
	UndoPlan(ctx context.Context, by, why string, id int64) (queue.Plan, error)
	Rehearse(ctx context.Context, ids []int64) (queue.Rehearsal, error)
	PlanStatements(p queue.NewPlan) []queue.Statement
}

const (
	planFrame     = 250 * time.Millisecond // between two looks at what an execution told
	startPatience = 2 * time.Minute        // a plan of a million jobs is fixed in one transaction
	planFarewell  = 2 * time.Second        // how long the end of the program waits for executions
)

// plansHere are the plans that this dashboard knows of, and those that it executes.
type plansHere struct {
	seen map[int64]*planSeen
	runs map[int64]*planRun
	last int64 // the latest that was started here; 0 none
	work background
}

// planSeen is a plan as it was when it was last read or told of.
type planSeen struct {
	plan  queue.Plan
	read  time.Time     // local clock; zero: not yet
	count time.Time     // when what became of its jobs was counted
	cost  time.Duration // of that
	speed planwords.Speed
	err   error // why it was not read again
}

// of is what is known of a plan.
func (p *plansHere) of(id int64) *planSeen {
	if p.seen == nil {
		p.seen = map[int64]*planSeen{}
	}
	if p.seen[id] == nil {
		p.seen[id] = &planSeen{}
	}
	return p.seen[id]
}

// saw takes a plan as it is now.
func (a *app) saw(plan queue.Plan) {
	now := a.now()
	a.plans.of(plan.ID).count = now
	a.glimpsed(plan, now)
}

func (a *app) glimpsed(plan queue.Plan, now time.Time) {
	s := a.plans.of(plan.ID)
	s.plan, s.read, s.err = plan, now, nil
	s.speed.Note(plan, now)
}

// kept is a plan of which nobody counted what became of its jobs, with what is known of that.
func (s *planSeen) kept(plan queue.Plan) queue.Plan {
	plan.Completed, plan.DiedAgain, plan.Running, plan.Gone = s.plan.Completed, s.plan.DiedAgain, s.plan.Running, s.plan.Gone
	plan.Pending = max(plan.Redriven-plan.Completed-plan.DiedAgain-plan.Running-plan.Gone, 0)
	return plan
}

type (
	// planStartedMsg is that a plan has been started, or why not.
	planStartedMsg struct {
		plan queue.Plan
		set  deadSet
		open bool // its page is to be opened
		err  error
	}
	// planToldMsg is how far a plan is that is executed here.
	planToldMsg struct{ run *planRun }
	// planRanMsg is that nothing more is to be done here for a plan.
	planRanMsg struct {
		run   *planRun
		plan  queue.Plan
		skips []queue.PlanJob // the first that were skipped
		err   error
	}
	// planMsg is a plan that was read.
	planMsg struct {
		id    int64
		plan  queue.Plan
		brief bool // what became of its jobs is not counted
		took  time.Duration
		err   error
	}
)

// beginPlan fixes the set of a plan and executes it, in the background of this process.
// open has its page opened.
func (a *app) beginPlan(p queue.NewPlan, set deadSet, open bool) tea.Cmd {
	a.say(quiet, "redriving "+plural(len(p.IDs), "job")+"…")
	return a.ioWithin(startPatience, func(ctx context.Context) tea.Msg {
		plan, err := a.cfg.Jobs.StartPlan(ctx, a.cfg.By, p)
		return planStartedMsg{plan, set, open, err}
	})
}

func (a *app) planStarted(m planStartedMsg) tea.Cmd {
	if m.err != nil {
		a.say(danger, "nothing was redriven: "+m.err.Error())
		return nil
	}
	a.saw(m.plan)
	a.plans.last = m.plan.ID
	a.done(undoable{plan: m.plan.ID})
	a.acted(m.set)
	if m.open {
		a.flash = flash{}
		a.openOver(a.newPlanPage(m.plan.ID))
	}
	return a.executePlan(m.plan.ID)
}

func (a *app) planTold(m planToldMsg) tea.Cmd {
	if a.plans.runs[m.run.id] != m.run {
		return nil
	}
	plan, err := m.run.news()
	if plan.ID != 0 && !a.frozen {
		a.saw(plan)
	}
	a.plans.of(m.run.id).err = err
	return a.listenPlan(m.run)
}

// planRan says what came of a plan that was executed here.
func (a *app) planRan(m planRanMsg) tea.Cmd {
	delete(a.plans.runs, m.run.id)
	a.deadTab.Stale()
	a.jobsTab.Again()
	name := fmt.Sprintf("plan %d", m.run.id)
	if m.err != nil {
		if errors.Is(m.err, queue.ErrPlanTaken) {
			if p := m.plan; p.State == queue.PlanUndoing { // whoever asked for that has it
				a.say(okay, name+": asked: "+planwords.Elsewhere(p))
				return nil
			}
			a.say(caution, m.err.Error()+": it goes on there")
			return nil
		}
		a.plans.of(m.run.id).err = m.err
		a.say(danger, name+": "+m.err.Error())
		return nil
	}
	if m.run.again { // the plan may have been read before it was resumed
		return a.executePlan(m.run.id)
	}
	a.saw(m.plan)
	p := m.plan
	switch p.State {
	case queue.PlanDone:
		if p.Skipped == 0 {
			a.say(okay, redrove(p)+a.undoes())
			break
		}
		text := redrove(p) + ", skipped " + thousands(p.Skipped)
		var reasons []string
		for _, s := range m.skips {
			reasons = append(reasons, fmt.Sprintf("%d %s", s.ID, s.Reason))
		}
		if len(reasons) > 0 {
			text += ": " + strings.Join(reasons, "; ") + pick(p.Skipped > int64(len(reasons)), "; …", "")
		}
		a.say(caution, text)
	case queue.PlanUndone:
		a.say(okay, fmt.Sprintf("took back %s: dead letters again (plan %d)", plural(int(p.Undone), "job"), p.ID))
	case queue.PlanStopped:
		a.say(danger, name+" "+planwords.Stands(p))
	case queue.PlanHeld:
		a.say(caution, name+": "+planwords.Stands(p))
	case queue.PlanPaused, queue.PlanCancelled:
		if p.StateBy != a.cfg.By { // what was done here has been said
			a.say(caution, name+" was "+planwords.Stands(p))
		}
	}
	return nil
}

// redrove says how many of a plan were redriven.
func redrove(p queue.Plan) string {
	if p.Total == 1 && p.Redriven == 1 {
		return fmt.Sprintf("redriven: pending again (plan %d)", p.ID)
	}
	return fmt.Sprintf("redrove %s of %s (plan %d)", thousands(p.Redriven), thousands(p.Total), p.ID)
}

// leftPlans says of each plan that was executed here when the program ended that it
// stands still now.
func (a *app) leftPlans() (lines []string) {
	for _, id := range a.runningPlans() {
		p := a.plans.of(id).plan
		lines = append(lines, fmt.Sprintf("plan %d stands still, %s: `leasetop plan resume %[1]d`, or c on its page, goes on", id, planwords.Came(p)))
	}
	return lines
}

// runningPlans are the plans that are executed here, oldest first.
func (a *app) runningPlans() (ids []int64) {
	for id := range a.plans.runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// planned takes what there is to know of plans.
func (a *app) planned(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case planStartedMsg:
		return a.planStarted(msg)
	case planToldMsg:
		return a.planTold(msg)
	case planRanMsg:
		return a.planRan(msg)
	case planActedMsg:
		return a.planActed(msg)
	case undoAskedMsg:
		a.undoAsked(msg)
	case rehearsedMsg:
		msg.form.Took(msg)
	case planMsg:
		if a.plans.runs[msg.id] == nil || msg.err == nil {
			a.readPlanDone(msg)
		}
	}
	for _, p := range a.over {
		switch p := p.(type) {
		case *planPage:
			switch msg := msg.(type) {
			case planMsg:
				p.Took(msg)
			case planJobsMsg:
				p.jobs.Took(msg)
			}
		case *planList:
			if m, ok := msg.(plansMsg); ok {
				p.Took(m)
			}
		}
	}
	return nil
}

func (a *app) readPlanDone(m planMsg) {
	s := a.plans.of(m.id)
	switch {
	case m.err != nil:
		s.err = m.err
		if !m.brief {
			s.cost = m.took
		}
	case m.brief:
		a.glimpsed(s.kept(m.plan), a.now())
	default:
		s.cost = m.took
		a.saw(m.plan)
	}
}
