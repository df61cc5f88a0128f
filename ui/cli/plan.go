package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// PlanEnd is the error of a command whose plan did not come to its end: it says why, and
// how to go on. Its value is the exit status.
type PlanEnd struct {
	Status int
	text   string
}

// The exit statuses of commands that execute plans, besides those of all commands.
const (
	PlanStopped    = 3 // by itself: too many died again
	PlanUnfinished = 4 // somebody paused or cancelled it, or interrupted the command
)

func (e PlanEnd) Error() string { return e.text }

// letGo is how long a plan may take to be paused when the command is interrupted.
const letGo = 10 * time.Second

// DeadMatching are the dead letters that pass a filter, oldest death first: the set of an
// act, fixed from now on.
func DeadMatching(ctx context.Context, p Printer, q *queue.Queue, where filter.Filter) ([]int64, error) {
	defer p.endProgress()
	tell := p.slowly()
	return q.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, func(found, looked int) {
		tell(fmt.Sprintf("found %s among %s dead letters", thousands(found), thousands(looked)))
	})
}

// StartPlan starts a plan, executes it and prints how many it brought back, and which it
// skipped and why. named tells that the jobs were named by id: one that there is not is a
// failure then. When it is interrupted it pauses the plan.
func StartPlan(ctx context.Context, p Printer, q *queue.Queue, plan queue.NewPlan, named bool) error {
	tell := p.slowly()
	plan.Told = func(added int) {
		tell(fmt.Sprintf("begins a plan: %s of %s jobs", thousands(added), thousands(len(plan.IDs))))
	}
	started, err := q.StartPlan(ctx, Operator(), plan)
	p.endProgress()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "leasetop: plan %d: %s\n", started.ID, planwords.Will(plan, int(started.Total)))
	ended, end := p.carryOut(ctx, q, started.ID)
	if ended.ID == 0 {
		return end
	}
	end = errors.Join(end, takenBack(ended))
	return errors.Join(p.redriven(context.WithoutCancel(ctx), q, ended, named), end)
}

// redriven prints what came of a plan in the words of a redrive. A job that was locked or
// refused is an error; when the jobs were named by id, also one that there is not.
func (p Printer) redriven(ctx context.Context, q *queue.Queue, plan queue.Plan, named bool) error {
	var skipped []queue.Skip
	var ids []int64
	err := eachPlanJob(ctx, q, plan.ID, func(j *queue.PlanJob) {
		switch j.State {
		case "skipped":
			skipped = append(skipped, queue.Skip{ID: j.ID, Reason: j.Reason, Failed: j.Failed() || named && j.Reason == queue.NoSuchJob})
		case "redriven":
			ids = append(ids, j.ID)
		}
	}, pick(p.Format == JSON, []string{"redriven", "skipped"}, []string{"skipped"})...)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		return errors.Join(line(out, map[string]any{"redriven": list(ids), "skipped": skips(skipped), "plan": plan}), out.Flush(), left(skipped, int(plan.Total)))
	}
	fmt.Fprintf(out, "redriven %d, skipped %d%s\n", plan.Redriven, plan.Skipped, rest(plan))
	printSkipped(out, skipped)
	return errors.Join(out.Flush(), left(skipped, int(plan.Total)))
}

// rest is what a plan has left, when it has.
func rest(plan queue.Plan) (text string) {
	if n := plan.Waiting + plan.Left; n > 0 {
		text = fmt.Sprintf(", not reached %d", n)
	}
	if plan.Undone > 0 {
		text += fmt.Sprintf(", taken back %d", plan.Undone)
	}
	return text
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// planPart is how many jobs of a plan are read at a time.
const planPart = 5000

// eachPlanJob hands on the jobs of a plan in these states, in the plan's order.
func eachPlanJob(ctx context.Context, q *queue.Queue, id int64, put func(*queue.PlanJob), states ...string) error {
	for after := int64(0); ; {
		jobs, err := q.PlanJobs(ctx, id, after, planPart, states...)
		if err != nil {
			return err
		}
		for i := range jobs {
			put(&jobs[i])
		}
		if len(jobs) < planPart {
			return nil
		}
		after = jobs[len(jobs)-1].ID
	}
}

// carryOut executes a plan until there is nothing more to do for it. The error is a
// [PlanEnd] when it did not come to its end. The plan is the zero one when it was never read.
func (p Printer) carryOut(ctx context.Context, q *queue.Queue, id int64) (queue.Plan, error) {
	var speed planwords.Speed
	plan, err := q.ExecutePlan(ctx, id, func(plan queue.Plan) {
		speed.Note(plan, time.Now())
		p.progress(safe.Text(planProgress(plan, &speed)))
	})
	p.endProgress()
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx, q, id)
	}
	if err != nil {
		if errors.Is(err, queue.ErrPlanTaken) {
			err = fmt.Errorf("%w: `leasetop plan show %d` tells how far it is", err, id)
		} else {
			err = fmt.Errorf("plan %d stands still, `leasetop plan resume %[1]d` goes on: %w", id, err)
		}
		return queue.Plan{}, err
	}
	goOn := fmt.Sprintf("`leasetop plan resume %d` goes on, `leasetop plan undo %[1]d` takes back what nobody has claimed yet", id)
	switch plan.State {
	case queue.PlanHeld:
		fmt.Fprintf(p.Err, "leasetop: plan %d: %s: %s\n", id, planwords.Stands(plan), goOn)
	case queue.PlanStopped:
		return plan, PlanEnd{PlanStopped, fmt.Sprintf("plan %d %s: %s", id, planwords.Stands(plan), goOn)}
	case queue.PlanPaused:
		return plan, PlanEnd{PlanUnfinished, fmt.Sprintf("plan %d was %s: %s", id, planwords.Stands(plan), goOn)}
	case queue.PlanCancelled:
		return plan, PlanEnd{PlanUnfinished, fmt.Sprintf("plan %d was %s", id, planwords.Stands(plan))}
	}
	return plan, nil
}

// takenBack is the end of a redrive whose plan somebody undid under it.
func takenBack(plan queue.Plan) error {
	if plan.State != queue.PlanUndone {
		return nil
	}
	return PlanEnd{PlanUnfinished, fmt.Sprintf("plan %d was %s", plan.ID, planwords.Stands(plan))}
}

// interrupted pauses a plan that the command was executing: somebody wanted it to stop.
// An undo cannot be paused, and stands still until somebody goes on with it.
func interrupted(ctx context.Context, q *queue.Queue, id int64) (queue.Plan, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGo)
	defer cancel()
	plan, err := q.PausePlan(ctx, Operator(), "interrupted", id)
	switch {
	case errors.Is(err, queue.ErrPlanState):
		if plan.State == queue.PlanUndoing {
			return plan, PlanEnd{PlanUnfinished, fmt.Sprintf("interrupted: the undo of plan %d stands still: `leasetop plan resume %[1]d` goes on", id)}
		}
		return plan, PlanEnd{PlanUnfinished, "interrupted: " + err.Error()}
	case err != nil:
		return queue.Plan{}, fmt.Errorf("interrupted, and plan %d could not be paused: it stands still until somebody goes on with it: %w", id, err)
	}
	return plan, PlanEnd{PlanUnfinished, fmt.Sprintf("interrupted: plan %d is paused: `leasetop plan resume %[1]d` goes on, `leasetop plan undo %[1]d` takes back what nobody has claimed yet", id)}
}

// planProgress is how far a plan is, in a line.
func planProgress(plan queue.Plan, speed *planwords.Speed) string {
	text := fmt.Sprintf("plan %d: %s of %s", plan.ID, planwords.Thousands(plan.Redriven+plan.Skipped+plan.Undone), planwords.Thousands(plan.Total))
	if plan.State != queue.PlanRunning {
		text += " · " + planwords.Stands(plan)
	}
	if perSecond, ok := speed.PerSecond(); ok && plan.State == queue.PlanRunning {
		text += fmt.Sprintf(" · %.1f a second", perSecond)
	}
	if left, ok := speed.Left(plan); ok {
		text += " · " + planwords.About(left) + " left"
	}
	if plan.DiedAgain > 0 {
		text += " · " + planwords.Thousands(plan.DiedAgain) + " died again"
	}
	return text
}

// ResumePlan lets a plan go on that is paused, held or stopped, or that nobody executes,
// and executes it.
func ResumePlan(ctx context.Context, p Printer, q *queue.Queue, why string, id int64) error {
	plan, err := q.Plan(ctx, id)
	if err != nil {
		return err
	}
	if !planwords.Works(plan.State) {
		plan, err := q.ResumePlan(ctx, Operator(), why, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Err, "leasetop: plan %d %s\n", id, planwords.GoesOn(plan))
	}
	undoing := plan.State == queue.PlanUndoing
	plan, end := p.carryOut(ctx, q, id)
	if plan.ID == 0 {
		return end
	}
	if !undoing {
		end = errors.Join(end, takenBack(plan))
	}
	return errors.Join(p.planLine(plan), leftByPlan(ctx, q, plan), end)
}

// leftByPlan is the error of a plan that left jobs as they were though it should not have.
func leftByPlan(ctx context.Context, q *queue.Queue, plan queue.Plan) error {
	var failed []queue.Skip
	err := eachPlanJob(context.WithoutCancel(ctx), q, plan.ID, func(j *queue.PlanJob) {
		if j.Failed() {
			failed = append(failed, queue.Skip{ID: j.ID, Reason: j.Reason, Failed: true})
		}
	}, pick(plan.State == queue.PlanUndone, "redriven", "skipped"))
	return errors.Join(err, left(failed, int(plan.Total)))
}

// UndoPlan takes back what a plan redrove and nobody has claimed since. Where another
// process executes the plan, that does it, and to have asked for it is all there is to do.
func UndoPlan(ctx context.Context, p Printer, q *queue.Queue, why string, id int64) error {
	plan, err := q.Plan(ctx, id)
	if err != nil {
		return err
	}
	if nothing := planwords.NothingToUndo(plan); nothing != "" {
		return fmt.Errorf("plan %d cannot be undone: %s", id, nothing)
	}
	if _, err := q.UndoPlan(ctx, Operator(), why, id); err != nil {
		return err
	}
	err = p.executed(ctx, q, id)
	if errors.Is(err, queue.ErrPlanTaken) {
		if plan, err = q.Plan(ctx, id); err == nil {
			fmt.Fprintf(p.Err, "leasetop: plan %d: asked: %s: `leasetop plan show %[1]d` tells how far it is\n", id, safe.Text(planwords.Elsewhere(plan)))
			return p.planLine(plan)
		}
	}
	return err
}

func (p Printer) executed(ctx context.Context, q *queue.Queue, id int64) error {
	plan, end := p.carryOut(ctx, q, id)
	if plan.ID == 0 {
		return end
	}
	return errors.Join(p.planLine(plan), leftByPlan(ctx, q, plan), end)
}

// PausePlan stops a plan, wherever it is executed.
func PausePlan(ctx context.Context, p Printer, q *queue.Queue, why string, id int64) error {
	plan, err := q.PausePlan(ctx, Operator(), why, id)
	if err != nil {
		return err
	}
	return p.planLine(plan)
}

// CancelPlan ends a plan: what it has redriven stays so, the others stay dead.
func CancelPlan(ctx context.Context, p Printer, q *queue.Queue, why string, id int64) error {
	plan, err := q.CancelPlan(ctx, Operator(), why, id)
	if err != nil {
		return err
	}
	return p.planLine(plan)
}

// planLine prints where a plan stands, in a line.
func (p Printer) planLine(plan queue.Plan) error {
	if p.Format == JSON {
		return line(p.Out, plan)
	}
	stands := veiled(planwords.Stands(plan))
	_, err := fmt.Fprintf(p.Out, "plan %d: %s: %s\n", plan.ID, safe.Text(stands), planwords.Came(plan))
	return err
}

// Plans prints the redrive plans, newest first.
func Plans(ctx context.Context, p Printer, q *queue.Queue, before int64, limit int) error {
	plans, err := q.Plans(ctx, before, limit)
	if err != nil {
		return err
	}
	if p.Format == JSON {
		out := bufio.NewWriter(p.Out)
		for i := range plans {
			if err := line(out, listedPlan(&plans[i])); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	var rows [][]string
	for i := range plans {
		o := &plans[i]
		state := string(o.State)
		if planwords.Works(o.State) && (o.Executor == "" || o.Alone > 0) {
			state += ", nobody executes it"
		}
		n := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows = append(rows, []string{n(o.ID), state, clock(o.CreatedAt), o.By, n(o.Total), n(o.Redriven), n(o.Skipped), n(o.Undone), n(o.Waiting), o.Filter, o.Reason})
	}
	if err := table(p.Out, []column{
		{title: "PLAN", right: true},
		{title: "STATE"},
		{title: "STARTED AT"},
		{title: "BY", most: 30, holds: names},
		{title: "JOBS", right: true},
		{title: "REDRIVEN", right: true},
		{title: "SKIPPED", right: true},
		{title: "TAKEN BACK", right: true},
		{title: "WAITING", right: true},
		{title: "FILTER", most: 60},
		{title: "REASON", most: 60},
	}, rows); err != nil {
		return err
	}
	if len(plans) == limit {
		fmt.Fprintf(p.Err, "leasetop: %d shown, perhaps more with --limit or --before %d\n", limit, plans[limit-1].ID)
	}
	return nil
}

// listedPlan leaves out what a list of plans does not count.
func listedPlan(p *queue.Plan) map[string]any {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a plain struct
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	for _, name := range []string{"completed", "died_again", "running", "pending", "gone"} {
		delete(fields, name)
	}
	return fields
}
