package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// standingPlan is a plan with what only its executor needs to know of it. The outcomes
// of its jobs are not counted.
type standingPlan struct {
	Plan
	reached  int64         // the jobs up to this position are decided
	undoneTo int64         // an undo has yet to go from here down to 1
	passed   bool          // the canary is over
	judged   int64         // what died again up to this position has been answered for: it had stopped
	token    string        // of its executor
	since    time.Duration // since a job was redriven last
}

func scanPlan(row pgx.CollectableRow) (*standingPlan, error) {
	var p standingPlan
	var alone, since float64
	var redriven int64
	err := row.Scan(&p.ID, &p.State, &p.By, &p.StateBy, &p.Why, &p.Filter, &p.Reason, &p.Canary, &p.Wait, &p.Pace, &p.StopAt,
		at(&p.CreatedAt), at(&p.ChangedAt), atOrNull(&p.EndedAt), &p.Executor, &alone,
		&p.Total, &p.reached, &redriven, &p.Skipped, &p.Undone, &p.undoneTo, &p.passed, &p.judged, &p.CanaryAfter, &p.token, &since)
	p.Alone, p.since = seconds(alone), seconds(since)
	p.Redriven = redriven - p.Undone
	switch rest := p.Total - p.reached; p.State {
	case PlanCancelled, PlanUndoing, PlanUndone:
		p.Left = rest
	default:
		p.Waiting = rest
		p.CanaryLeft = p.canaryLeft(redriven)
	}
	return &p, err
}

// canaryLeft is how many jobs of the canary that counts now are yet to be redriven, of which so many
// were redriven in all. One of all that is left is none: there is nothing that it would keep back.
func (p *standingPlan) canaryLeft(redriven int64) int64 {
	if size := p.canary(); !p.passed && size < p.Total-p.judged {
		return max(size-(redriven-p.CanaryAfter), 0)
	}
	return 0
}

// canary is how many jobs go before the others: as many again after a stop, then also in a plan that began without.
func (p *standingPlan) canary() int64 {
	if p.Canary == 0 && p.judged > 0 {
		return judgedFrom
	}
	return int64(p.Canary)
}

// seconds is a duration of so many, the longest there is for more.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}

// countedAtOnce is how many jobs of a plan one statement counts: it ends before a statement_timeout.
const countedAtOnce = 100_000

// Plan returns a plan as it stands, and counts what has become of its jobs by now, which
// takes some seconds for a million. The error wraps [ErrNotFound] when there is none of this id.
func (q *Queue) Plan(ctx context.Context, id int64) (Plan, error) {
	p, err := q.standing(ctx, id)
	if err != nil {
		return Plan{}, err
	}
	if p.Redriven > 0 {
		var all planOutcomes
		for from := int64(0); from < p.reached; from += countedAtOnce {
			some, err := q.outcomes(ctx, id, from, min(from+countedAtOnce, p.reached))
			if err != nil {
				return Plan{}, err
			}
			all = all.plus(some)
		}
		p.become(all)
	}
	return p.Plan, nil
}

// standing reads a plan without the outcomes of its jobs.
func (q *Queue) standing(ctx context.Context, id int64) (*standingPlan, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("plan"), id)
	var p *standingPlan
	if err == nil {
		p, err = pgx.CollectExactlyOneRow(rows, scanPlan)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &planRefused{fmt.Sprintf("there is no plan %d", id), ErrNotFound}
	}
	return p, q.failed(fmt.Sprintf("read plan %d", id), err, "plan")
}

// Plans returns up to limit plans, newest first: those with ids below before, which is 0
// for the first page. What has become of their jobs is not counted, so Completed,
// DiedAgain, Running, Pending and Gone are 0: see [Queue.Plan].
func (q *Queue) Plans(ctx context.Context, before int64, limit int) ([]Plan, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := q.pool.Query(ctx, q.schema.Query("plan_list"), before, limit)
	if err != nil {
		return nil, q.failed("list plans", err, "plan_list")
	}
	plans, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Plan, error) {
		p, err := scanPlan(row)
		return p.Plan, err
	})
	return plans, q.failed("list plans", err, "plan_list")
}

// PlanJobs returns up to limit jobs of a plan in the order in which they are redriven,
// those after the job of the id after in that order; 0 is from the first. states chooses
// among them; none is all.
func (q *Queue) PlanJobs(ctx context.Context, id, after int64, limit int, states ...string) ([]PlanJob, error) {
	statement, args := "plan_jobs", []any{id, after, states, limit}
	if few, err := q.planReasons(ctx, id, states); err != nil {
		return nil, err
	} else if few {
		statement = "plan_skipped"
	}
	rows, err := q.pool.Query(ctx, q.schema.Query(statement), args...)
	if err != nil {
		return nil, q.failed(fmt.Sprintf("list the jobs of plan %d", id), err, statement)
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (j PlanJob, err error) {
		err = row.Scan(&j.ID, &j.State, &j.Reason, atOrNull(&j.At), &j.Status)
		return j, err
	})
	return jobs, q.failed(fmt.Sprintf("list the jobs of plan %d", id), err, statement)
}

// planReasons tells whether all of a plan's jobs in these states have a reason, by which few are
// found among a million: those skipped, and in an undone plan those that are redriven still.
func (q *Queue) planReasons(ctx context.Context, id int64, states []string) (bool, error) {
	if len(states) == 0 || slices.ContainsFunc(states, func(s string) bool { return s != "skipped" && s != "redriven" }) {
		return false, nil
	}
	if !slices.Contains(states, "redriven") {
		return true, nil
	}
	p, err := q.standing(ctx, id)
	if errors.Is(err, ErrNotFound) { // it has no jobs
		return false, nil
	}
	return err == nil && p.State == PlanUndone, err
}

// planOutcomes is what has become of redriven jobs.
type planOutcomes struct{ redriven, completed, died, running, pending, gone int64 }

func (o planOutcomes) ended() int64 { return o.completed + o.died + o.gone }

// known is how many ended in a way that is known: those gone from the table may have died or not.
func (o planOutcomes) known() int64 { return o.completed + o.died }

func (o planOutcomes) plus(p planOutcomes) planOutcomes {
	return planOutcomes{
		o.redriven + p.redriven, o.completed + p.completed, o.died + p.died,
		o.running + p.running, o.pending + p.pending, o.gone + p.gone,
	}
}

// outcomes counts what has become of the redriven jobs of a plan at the positions above
// from and up to to.
func (q *Queue) outcomes(ctx context.Context, id, from, to int64) (o planOutcomes, err error) {
	err = q.pool.QueryRow(ctx, q.schema.Query("plan_outcomes"), id, from, to).Scan(&o.redriven, &o.completed, &o.died, &o.running, &o.pending, &o.gone)
	return o, q.failed(fmt.Sprintf("count what became of plan %d", id), err, "plan_outcomes")
}

// become notes what has become of the redriven. What was redriven after they were counted is pending.
func (p *PlanCounts) become(o planOutcomes) {
	p.Completed, p.DiedAgain, p.Running, p.Gone = o.completed, o.died, o.running, o.gone
	p.Pending = max(p.Redriven-o.ended()-o.running, 0)
}
