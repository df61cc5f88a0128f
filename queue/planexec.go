package queue

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// planLease is for how long a plan stays with an executor that is not heard of.
	planLease = 10 * time.Second
	// planKeep is how often an executor that moves nothing renews its lease.
	planKeep = 2 * time.Second
	// planLook is how often an executor that waits looks at its plan: so soon it sees that
	// somebody paused it.
	planLook = 250 * time.Millisecond
	// planPatience is for how long an executor goes on trying while the database is away.
	planPatience = 30 * time.Second
)

// ExecutePlan redrives, or takes back, what a plan has to, in short transactions, until
// the plan is in a state in which nothing is to be done: ended, paused, held or stopped.
// It is done as soon as none of its jobs is waiting, whatever becomes of the last ones: see
// [Queue.Plan]. One process at a time executes a plan, under a lease of ten seconds; the
// error wraps [ErrPlanTaken] when another does, or took it over meanwhile. It may be killed
// at any moment: whoever calls it next goes on where it was, and no job is redriven twice by one
// plan. It outlasts an absence of the database of half a minute. told, which may be nil,
// gets the plan after every batch and at least once a second. When ctx ends, the batch
// under way is finished and the plan given back, and the error is ctx's.
func (q *Queue) ExecutePlan(ctx context.Context, id int64, told func(Plan)) (Plan, error) {
	e := newExecution(q, id, told)
	err := e.run(ctx)
	e.release(ctx)
	if err == nil {
		return q.Plan(ctx, id)
	}
	return e.last, err
}

// execution is one process at the execution of a plan.
type execution struct {
	q     *Queue
	id    int64
	token string // the fencing token: every write names it
	told  func(Plan)
	last  Plan // as it was told last
	has   bool // the plan was taken

	tally tally
	pace  pace
	most  int           // how many jobs a batch takes at most
	size  int           // how many the next one does
	later int64         // behind this position are those that were locked at their turn
	stuck time.Duration // for how long single jobs have waited for locks
	kept  time.Time     // when the lease was renewed
	away  time.Duration // for how long it goes on trying what fails for the moment
}

func newExecution(q *Queue, id int64, told func(Plan)) *execution {
	if told == nil {
		told = func(Plan) {}
	}
	return &execution{q: q, id: id, token: planToken(), told: told, most: planBatch, size: planBatch, away: planPatience}
}

var executions atomic.Uint64

func planToken() string { return NewProcess() + "#" + strconv.FormatUint(executions.Add(1), 10) }

// executor names this process for the people who see that it executes a plan, also apart from another one of theirs.
func executor() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return errorText(name + " pid " + strconv.Itoa(os.Getpid()))
}

// take takes the plan, or says who has it. It leaves alone a plan of which nothing is to be done.
func (e *execution) take(ctx context.Context) error {
	taken, err := e.write(ctx, "plan_take", e.id, executor(), e.token, planLease.Seconds())
	if err != nil {
		return e.q.failed("take the plan", err)
	}
	e.kept = time.Now()
	p, err := e.q.standing(ctx, e.id)
	if err != nil {
		return err
	}
	e.last = p.Plan
	if !taken && p.State.toExecute() {
		return p.taken()
	}
	e.has = true
	e.later = p.Total
	e.tally = newTally(p)
	e.pace = newPace(p, time.Now())
	return nil
}

// release gives the plan back, so that somebody else need not wait for the lease to end.
func (e *execution) release(ctx context.Context) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	_, _ = e.write(ctx, "plan_release", e.id, e.token) // a failure leaves it to the lease
}

// toExecute tells whether an executor has something to do in this state.
func (s PlanState) toExecute() bool { return s == PlanRunning || s == PlanCanary || s == PlanUndoing }

// run does step after step until there is nothing to do, and tries again what failed only for the moment.
func (e *execution) run(ctx context.Context) error {
	well := time.Now()
	for {
		wait, over, err := e.step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (!passing(err) || time.Since(well) > e.away || !e.has && errors.Is(err, ErrLocked)):
			return err
		case err != nil:
			wait = planLook
		case over:
			return nil
		default:
			well = time.Now()
		}
		if wait > 0 {
			select {
			case <-time.After(min(wait, planLook)):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// step takes the plan, or looks at it and does what is next. It returns how long to wait before the
// next step, or that there is none.
func (e *execution) step(ctx context.Context) (wait time.Duration, over bool, err error) {
	if !e.has {
		return 0, false, e.take(ctx)
	}
	p, err := e.q.standing(ctx, e.id)
	if err != nil {
		return 0, false, err
	}
	if p.State.toExecute() && p.token != e.token {
		if e.has = false; p.token == "" { // whoever took it over has given it back
			return 0, false, nil
		}
		return 0, false, p.taken()
	}
	if e.tally.cares != p.judged { // it stopped, and somebody was quick to have it go on
		e.tally = newTally(p)
	}
	if err := e.tally.count(ctx, e.q, p); err != nil {
		return 0, false, err
	}
	p.become(e.tally.all())
	e.last = p.Plan
	e.told(p.Plan)
	switch p.State {
	case PlanRunning:
		wait, err = e.redrive(ctx, p)
	case PlanCanary:
		wait, err = e.watch(ctx, p)
	case PlanUndoing:
		wait, err = e.undo(ctx, p)
	default:
		return 0, true, nil
	}
	if err == nil && time.Since(e.kept) >= planKeep {
		_, err = e.write(ctx, "plan_keep", e.id, e.token, planLease.Seconds())
		e.kept = time.Now()
	}
	return wait, false, err
}

// redrive redrives the next batch, unless the plan is to stop, watch its canary, or is done.
func (e *execution) redrive(ctx context.Context, p *standingPlan) (wait time.Duration, err error) {
	size := p.canary()
	switch {
	case p.Waiting == 0:
		return 0, e.turn(ctx, "", "", PlanDone, PlanRunning)
	case p.CanaryLeft > 0:
		_, err = e.batch(ctx, "plan_redrive", "plan_skip", p.reached, int(min(p.CanaryLeft, planBatch)))
		return 0, err
	case !p.passed && size > 0 && size < p.Total-p.judged:
		return 0, e.turn(ctx, "", "", PlanCanary, PlanRunning)
	}
	if why := e.tally.stop(p); why != "" {
		return 0, e.turn(ctx, "stop", why, PlanStopped, PlanRunning)
	}
	n, wait := e.pace.allow(time.Now())
	if n == 0 {
		return wait, nil
	}
	did, err := e.batch(ctx, "plan_redrive", "plan_skip", p.reached, n)
	e.pace.spend(did)
	return 0, err
}

// watch looks whether the canary has ended.
func (e *execution) watch(ctx context.Context, p *standingPlan) (wait time.Duration, err error) {
	switch why := e.tally.stop(p); {
	case !e.tally.fresh(p):
		return 0, nil
	case why != "":
		return 0, e.turn(ctx, "stop", why, PlanStopped, PlanCanary)
	case !e.tally.ended():
		return planLook, nil
	case p.Wait, e.tally.unknown() != "":
		return 0, e.turn(ctx, "", e.tally.unknown(), PlanHeld, PlanCanary)
	}
	return 0, e.turn(ctx, "", "", PlanRunning, PlanCanary)
}

// undo takes back the next batch.
func (e *execution) undo(ctx context.Context, p *standingPlan) (wait time.Duration, err error) {
	if p.undoneTo == 0 {
		return 0, e.turn(ctx, "", "", PlanUndone, PlanUndoing)
	}
	_, err = e.batch(ctx, "plan_undo", "plan_undo_skip", p.undoneTo, planBatch)
	return 0, err
}

// turn brings the plan into another state by itself; that somebody was quicker shows at the next look.
func (e *execution) turn(ctx context.Context, what, why string, to, from PlanState) error {
	_, err := e.q.turn(ctx, e.id, what, "", why, &e.token, to, from)
	return err
}

// write runs a statement of this execution, and tells whether it returned a row.
func (e *execution) write(ctx context.Context, statement string, args ...any) (found bool, err error) {
	err = e.q.patiently(ctx, 0, func(ctx context.Context) error {
		found = false
		return e.q.writePatiently(ctx, statement, args, func(pgx.CollectableRow) error { found = true; return nil })
	})
	return found, err
}

// passing tells errors of the connection or the moment from those that every try would meet.
func passing(err error) bool {
	for _, lasting := range []error{ErrPlanTaken, ErrNotFound, ErrForbidden, ErrSchemaMissing, ErrSchemaOld, ErrRefused} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) {
		return true
	}
	switch pg.Code[:2] {
	case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, state, operator, system
		return true
	}
	return false
}
