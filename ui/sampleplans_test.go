package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// plans are the world's redrive plans. One that is executed is done at once, but for
// those that are to stay as they are.
type plans struct {
	list []queue.Plan // oldest first
	jobs map[int64][]queue.PlanJob
	stay map[int64]error // an execution leaves these as they are, with this error
}

func (w *world) plan(id int64) *queue.Plan {
	for i := range w.plans.list {
		if w.plans.list[i].ID == id {
			return &w.plans.list[i]
		}
	}
	return nil
}

func (w *world) StartPlan(_ context.Context, by string, p queue.NewPlan) (queue.Plan, error) {
	w.touch("start plan")
	if w.down != nil {
		w.note("redrive")
		return queue.Plan{}, w.down
	}
	id := int64(14)
	if n := len(w.plans.list); n > 0 {
		id = w.plans.list[n-1].ID + 1
	}
	how := ""
	if p.Canary > 0 || p.Pace > 0 {
		stop := "never"
		if p.StopAt != nil {
			stop = fmt.Sprint(*p.StopAt)
		}
		how = fmt.Sprintf(" canary %d wait %v pace %v stop %s", p.Canary, p.Wait, p.Pace, stop)
	}
	if p.Reason != "" {
		how += " because " + p.Reason
	}
	w.note("redrive %v by %s%s", p.IDs, by, how)
	plan := queue.Plan{
		ID: id, State: queue.PlanRunning, By: by, StateBy: by, Filter: p.Filter, Reason: p.Reason, Canary: p.Canary, Wait: p.Wait, Pace: p.Pace, StopAt: p.StopAt,
		CreatedAt: w.now, ChangedAt: w.now, PlanCounts: queue.PlanCounts{Total: int64(len(p.IDs)), Waiting: int64(len(p.IDs))},
	}
	w.plans.list = append(w.plans.list, plan)
	if w.plans.jobs == nil {
		w.plans.jobs = map[int64][]queue.PlanJob{}
	}
	for _, id := range p.IDs {
		w.plans.jobs[plan.ID] = append(w.plans.jobs[plan.ID], queue.PlanJob{ID: id, State: "waiting", Status: queue.Dead})
	}
	return plan, nil
}

func (w *world) Plan(_ context.Context, id int64) (queue.Plan, error) {
	w.touch("plan")
	p := w.plan(id)
	switch {
	case w.down != nil:
		return queue.Plan{}, w.down
	case p == nil:
		return queue.Plan{}, fmt.Errorf("plan %d: %w", id, queue.ErrNotFound)
	}
	return *p, nil
}

func (w *world) Plans(_ context.Context, before int64, limit int) (out []queue.Plan, err error) {
	w.touch("plans")
	for _, p := range slices.Backward(w.plans.list) {
		if (before == 0 || p.ID < before) && len(out) < limit {
			out = append(out, p)
		}
	}
	return out, w.down
}

func (w *world) PlanJobs(_ context.Context, id, after int64, limit int, states ...string) (out []queue.PlanJob, err error) {
	w.touch("plan jobs")
	jobs := w.plans.jobs[id]
	if after != 0 {
		jobs = jobs[slices.IndexFunc(jobs, func(j queue.PlanJob) bool { return j.ID == after })+1:]
	}
	for _, j := range jobs {
		if (len(states) == 0 || slices.Contains(states, j.State)) && len(out) < limit {
			out = append(out, j)
		}
	}
	return out, w.down
}

func (w *world) ExecutePlan(_ context.Context, id int64, told func(queue.Plan)) (queue.Plan, error) {
	w.touch("execute plan")
	p := w.plan(id)
	if err, stays := w.plans.stay[id]; stays {
		told(*p)
		return *p, err
	}
	at := w.now
	for i := range w.plans.jobs[id] {
		j := &w.plans.jobs[id][i]
		reason, skip := w.skip[j.ID]
		switch {
		case p.State == queue.PlanUndoing && j.State == "redriven":
			j.State, j.Status, j.At = "undone", queue.Dead, &at
			p.Redriven, p.Undone, p.Pending = p.Redriven-1, p.Undone+1, p.Pending-1
		case p.State == queue.PlanUndoing || j.State != "waiting":
		case skip:
			j.State, j.Reason, j.At = "skipped", reason, &at
			p.Skipped, p.Waiting = p.Skipped+1, p.Waiting-1
		default:
			j.State, j.Status, j.At = "redriven", queue.Pending, &at
			p.Redriven, p.Waiting, p.Pending = p.Redriven+1, p.Waiting-1, p.Pending+1
		}
		told(*p)
	}
	p.State = pick(p.State == queue.PlanUndoing, queue.PlanUndone, queue.PlanDone)
	p.ChangedAt, p.EndedAt = at, &at
	return *p, nil
}

// turn brings a plan from one of some states into another.
func (w *world) turn(what, by string, id int64, to queue.PlanState, from ...queue.PlanState) (queue.Plan, error) {
	w.note("%s plan %d by %s", what, id, by)
	p := w.plan(id)
	if !slices.Contains(from, p.State) {
		return *p, fmt.Errorf("%s: plan %d is %s, by %s: %w", what, id, p.State, p.StateBy, queue.ErrPlanState)
	}
	p.State, p.StateBy, p.ChangedAt = to, by, w.now
	return *p, w.down
}

func (w *world) PausePlan(_ context.Context, by, _ string, id int64) (queue.Plan, error) {
	return w.turn("pause", by, id, queue.PlanPaused, queue.PlanRunning, queue.PlanCanary)
}

func (w *world) ResumePlan(_ context.Context, by, _ string, id int64) (queue.Plan, error) {
	return w.turn("resume", by, id, queue.PlanRunning, queue.PlanPaused, queue.PlanHeld, queue.PlanStopped)
}

func (w *world) CancelPlan(_ context.Context, by, _ string, id int64) (queue.Plan, error) {
	return w.turn("cancel", by, id, queue.PlanCancelled, queue.PlanRunning, queue.PlanCanary, queue.PlanHeld, queue.PlanPaused, queue.PlanStopped)
}

func (w *world) UndoPlan(_ context.Context, by, _ string, id int64) (queue.Plan, error) {
	if p := w.plan(id); p.State == queue.PlanUndoing {
		w.note("undo plan %d by %s", id, by)
		return *p, w.down
	}
	return w.turn("undo", by, id, queue.PlanUndoing, queue.PlanRunning, queue.PlanCanary, queue.PlanHeld, queue.PlanPaused, queue.PlanStopped, queue.PlanDone, queue.PlanCancelled)
}

func (w *world) Rehearse(_ context.Context, ids []int64) (r queue.Rehearsal, err error) {
	w.touch("rehearse")
	at := map[string]int{}
	r.Queues = map[string]int64{}
	for _, id := range ids {
		i := slices.IndexFunc(w.state.Dead.Latest, func(j queue.Job) bool { return j.ID == id })
		if i < 0 {
			r.Gone++
			continue
		}
		j := w.state.Dead.Latest[i]
		k, known := at[j.Queue+j.Kind+j.LastError]
		if !known {
			k = len(r.Groups)
			at[j.Queue+j.Kind+j.LastError] = k
			r.Groups = append(r.Groups, queue.DeadGroup{Queue: j.Queue, Kind: j.Kind, Error: j.LastError})
		}
		r.Groups[k].Count++
		r.Queues[j.Queue]++
	}
	slices.SortStableFunc(r.Groups, func(a, b queue.DeadGroup) int { return int(b.Count - a.Count) })
	return r, w.down
}

func (w *world) PlanStatements(p queue.NewPlan) []queue.Statement {
	return []queue.Statement{
		{About: "fixes the set", SQL: "INSERT INTO leasetop.redrive_jobs (plan, position, job_id)\nSELECT …", Values: []string{"the plan's id", fmt.Sprint(p.IDs)}},
		{About: "redrives a batch of it", SQL: "UPDATE leasetop.jobs\nSET status = 'pending'", Values: []string{"the plan's id"}},
	}
}

// samplePlan is a plan in full swing, executed elsewhere.
func samplePlan() queue.Plan {
	return queue.Plan{
		ID: 14, State: queue.PlanRunning, By: "ann@shop1", StateBy: "ann@shop1", Filter: `queue:emails kind:send error:"421"`, Reason: "the provider says that the limits are lifted",
		Canary: 5, Wait: true, Pace: 50, StopAt: new(20), CreatedAt: noon.Add(-4 * time.Minute), ChangedAt: noon.Add(-3 * time.Minute), Executor: "bob@shop2",
		PlanCounts: queue.PlanCounts{Total: 40_112, Waiting: 35_290, Redriven: 4812, Skipped: 10, Completed: 4100, DiedAgain: 12, Running: 8, Pending: 692},
	}
}

// samplePlanJobs are those of it that went wrong.
func samplePlanJobs() (jobs []queue.PlanJob) {
	for i := range 22 {
		at := noon.Add(-time.Duration(170-7*i) * time.Second)
		j := queue.PlanJob{ID: int64(51_000 + 317*i), State: "redriven", At: &at, Status: queue.Failed}
		if i%2 == 0 && i < 20 {
			j.State, j.Status, j.Reason = "skipped", queue.Completed, "not a dead letter: completed"
		}
		if i == 4 {
			j.Status, j.Reason = queue.Dead, "idempotency key in use by #88131"
		}
		jobs = append(jobs, j)
	}
	return jobs
}
