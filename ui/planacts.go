package ui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
)

type (
	// planActedMsg is what came of an order to a plan.
	planActedMsg struct {
		id   int64
		what string // "paused", "cancelled" …
		plan queue.Plan
		err  error
	}
	// undoAskedMsg is the plan that somebody wants to undo, as it is now.
	undoAskedMsg struct {
		id   int64
		plan queue.Plan
		err  error
	}
)

// planOrder has a plan do something, wherever it is executed.
func (a *app) planOrder(id int64, what string, do func(ctx context.Context, by, why string, id int64) (queue.Plan, error)) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		plan, err := do(ctx, a.cfg.By, "", id)
		return planActedMsg{id, what, plan, err}
	})
}

func (a *app) planActed(m planActedMsg) tea.Cmd {
	name := fmt.Sprintf("plan %d", m.id)
	switch {
	case errors.Is(m.err, queue.ErrPlanState): // somebody else was quicker
		a.say(caution, m.err.Error())
		return a.readPlan(m.id)
	case m.err != nil:
		a.say(danger, name+": "+m.err.Error())
		return nil
	}
	a.saw(m.plan)
	a.say(okay, name+" "+pick(m.what == planGoesOn, planwords.GoesOn(m.plan), m.what))
	if planwords.Works(m.plan.State) && m.what != planPaused {
		return a.executePlan(m.id)
	}
	return nil
}

// planPaused is what a plan is after it was paused, as it is told.
const planPaused = "paused: c goes on where it was, from any dashboard"

// planGoesOn is what a plan does after somebody had it go on; planwords says how.
const planGoesOn = "goes on"

// readPlan reads a plan once.
func (a *app) readPlan(id int64) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		began := a.now()
		plan, err := a.cfg.Jobs.Plan(ctx, id)
		return planMsg{id: id, plan: plan, took: a.now().Sub(began), err: err}
	})
}

// glimpsePlan reads a plan without what became of its jobs, which takes seconds of a million.
func (a *app) glimpsePlan(id int64) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		plans, err := a.cfg.Jobs.Plans(ctx, id+1, 1)
		m := planMsg{id: id, brief: true, err: err}
		switch {
		case err != nil:
		case len(plans) == 0 || plans[0].ID != id:
			m.err = fmt.Errorf("there is no plan %d: %w", id, queue.ErrNotFound)
		default:
			m.plan = plans[0]
		}
		return m
	})
}

// pausePlanKey stops a plan for a while.
func (a *app) pausePlanKey(p *queue.Plan) action {
	return key("space", "pause", "pause the plan, wherever it is executed", func() tea.Cmd {
		return a.planOrder(p.ID, planPaused, a.cfg.Jobs.PausePlan)
	}).never(a.planWhy(p, func() string {
		return pick(p.State == queue.PlanRunning || p.State == queue.PlanCanary, "", "the plan "+isNow(p))
	})).alone()
}

// goOnKey lets a plan go on: what waits for somebody, and what nobody executes.
func (a *app) goOnKey(p *queue.Plan) action {
	label, help := "go on", "let the plan go on: after its canary, a pause or a stop, that with a canary again, and also when nobody executes it any more"
	if p != nil && planwords.Works(p.State) && a.plans.runs[p.ID] == nil {
		label = pick(p.Executor == "" || p.Alone > 0, "take over", label)
		return key("c", label, help, func() tea.Cmd {
			a.say(quiet, fmt.Sprintf("taking over plan %d…", p.ID))
			return a.executePlan(p.ID)
		}).never(a.planWhy(p, func() string {
			return pick(p.Executor == "" || p.Alone > 0, "", p.Executor+" executes it")
		}))
	}
	if p != nil && p.State == queue.PlanPaused {
		label = "resume"
	}
	return key("c", label, help, func() tea.Cmd {
		return a.planOrder(p.ID, planGoesOn, a.cfg.Jobs.ResumePlan)
	}).never(a.planWhy(p, func() string {
		switch p.State {
		case queue.PlanHeld, queue.PlanPaused, queue.PlanStopped:
			return ""
		}
		return "the plan " + isNow(p)
	}))
}

// cancelPlanKey asks whether to end a plan.
func (a *app) cancelPlanKey(p *queue.Plan) action {
	return key("C", "cancel", "end the plan: what is redriven stays so, the others stay dead", func() tea.Cmd {
		a.ask(a.newPlanCancel(*p))
		return nil
	}).never(a.planWhy(p, func() string {
		switch p.State {
		case queue.PlanRunning, queue.PlanCanary, queue.PlanHeld, queue.PlanPaused, queue.PlanStopped:
			return ""
		}
		return "the plan " + isNow(p)
	}))
}

// undoPlanKey asks whether to take back what a plan redrove.
func (a *app) undoPlanKey(p *queue.Plan) action {
	return key("u", "undo", "take back what the plan redrove and nobody has claimed yet", func() tea.Cmd {
		return a.askUndo(p.ID)
	}).unless(a.planWhy(p, func() string { return planUndoable(p) }))
}

// planUndoable says why there is nothing to take back.
func planUndoable(p *queue.Plan) string {
	switch {
	case p.State == queue.PlanUndoing && (p.Executor == "" || p.Alone > 0): // it goes on here
		return ""
	case p.State == queue.PlanUndone, p.State == queue.PlanUndoing:
		return "the plan " + isNow(p)
	}
	return planwords.NothingToUndo(*p)
}

// isNow is a plan's state as it ends a sentence about it.
func isNow(p *queue.Plan) string {
	switch p.State {
	case queue.PlanRunning:
		return "is running"
	case queue.PlanCanary:
		return "watches its canary"
	case queue.PlanHeld:
		return "waits for a go already"
	case queue.PlanUndoing:
		return "is being undone"
	case queue.PlanStopped:
		return "has stopped by itself"
	}
	return "is " + string(p.State)
}

// planWhy is why nothing can be done with a plan, before more is asked.
func (a *app) planWhy(p *queue.Plan, more func() string) string {
	switch {
	case p == nil:
		return "not read yet"
	case a.readOnly() != "":
		return a.readOnly()
	}
	return more()
}

// askUndo asks whether to undo a plan, when it is known how much there is to take back.
func (a *app) askUndo(id int64) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		plan, err := a.cfg.Jobs.Plan(ctx, id)
		return undoAskedMsg{id, plan, err}
	})
}

func (a *app) undoAsked(m undoAskedMsg) {
	if m.err != nil {
		a.say(danger, m.err.Error())
		return
	}
	a.saw(m.plan)
	if why := planUndoable(&m.plan); why != "" {
		a.say(caution, fmt.Sprintf("plan %d: %s", m.id, why))
		return
	}
	a.ask(a.newPlanUndo(m.plan))
}

func (a *app) newPlanUndo(p queue.Plan) *confirm {
	name := fmt.Sprintf("PLAN %d", p.ID)
	says := "What nobody has claimed yet is a dead letter again, as it was; what runs or has ended stays as it is."
	if p.Waiting > 0 {
		says += " What it has not reached stays dead."
	}
	return &confirm{
		title:   "UNDO " + name,
		subject: a.planNow(p.ID),
		says:    says,
		yes:     fmt.Sprintf("undo plan %d", p.ID), no: "leave it",
		do: func() tea.Cmd { return a.planOrder(p.ID, "is being undone…", a.cfg.Jobs.UndoPlan) },
	}
}

func (a *app) newPlanCancel(p queue.Plan) *confirm {
	return &confirm{
		title: fmt.Sprintf("CANCEL PLAN %d", p.ID), grave: true,
		subject: a.planNow(p.ID),
		says:    "It ends here, for good: what it has redriven stays so, what waits stays dead. To stop it for a while, pause it.",
		yes:     fmt.Sprintf("cancel plan %d", p.ID), no: "leave it",
		do: func() tea.Cmd {
			return a.planOrder(p.ID, "cancelled: what was waiting stays dead", a.cfg.Jobs.CancelPlan)
		},
	}
}

// newQuit asks whether to end the program while it executes plans.
func (a *app) newQuit() *confirm {
	running := a.runningPlans()
	what := fmt.Sprintf("plan %d", running[0])
	if len(running) > 1 {
		what = plural(len(running), "plan")
	}
	return &confirm{
		title: "QUIT WHILE " + pick(len(running) == 1, fmt.Sprintf("PLAN %d RUNS", running[0]), "PLANS RUN"),
		subject: func() (lines []string) {
			for _, id := range running {
				lines = append(lines, a.planNow(id)()...)
			}
			return lines
		},
		says: "This dashboard executes " + what + ". What it has redriven stays so, and the rest stands still until somebody goes on: " +
			"any dashboard does, by c on the plan's page, and so does `leasetop plan resume`.",
		yes: "quit", no: "stay",
		do: a.leave,
	}
}

// planNow describes a plan for a question about it, as it goes on meanwhile.
func (a *app) planNow(id int64) func() []string {
	return func() []string {
		t, p := a.pic.theme, a.plans.of(id).plan
		line := t.strong.draw(fmt.Sprintf("plan %d", id)) + t.dim.draw("  "+planwords.Came(p))
		free := t.text.draw(plural(int(p.Pending), "job")) + t.dim.draw(" redriven and not claimed yet, as of "+age(a.pic.local.Sub(a.plans.of(id).read))+" ago")
		return []string{line, free}
	}
}

// quit ends the program, or asks whether to while it executes plans.
func (a *app) quit() tea.Cmd {
	if len(a.plans.runs) == 0 {
		return a.leave()
	}
	a.ask(a.newQuit())
	return nil
}
