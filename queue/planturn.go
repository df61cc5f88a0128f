package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// PausePlan stops a plan until somebody resumes it, wherever it is executed: when this
// returns, nothing more is redriven. why may be "". The error wraps [ErrPlanState] when the
// plan is neither running nor watching its canary, and says who brought it into its state.
func (q *Queue) PausePlan(ctx context.Context, by, why string, id int64) (Plan, error) {
	return q.turnPlan(ctx, "pause", by, why, id, PlanPaused, PlanRunning, PlanCanary)
}

// ResumePlan lets a plan go on that is paused, held or stopped. Somebody has to execute
// it. One that had stopped by itself begins with another canary, since nobody knows whether the cause
// is gone: as many jobs as the first one had, ten in a plan without one; and it judges only by
// these and what it redrives after them. The error wraps [ErrPlanState] when the plan is in another state.
func (q *Queue) ResumePlan(ctx context.Context, by, why string, id int64) (Plan, error) {
	return q.turnPlan(ctx, "resume", by, why, id, PlanRunning, PlanPaused, PlanHeld, PlanStopped)
}

// CancelPlan ends a plan. What is redriven stays so; what was waiting stays dead. The
// error wraps [ErrPlanState] when the plan has ended, or is being undone.
func (q *Queue) CancelPlan(ctx context.Context, by, why string, id int64) (Plan, error) {
	return q.turnPlan(ctx, "cancel", by, why, id, PlanCancelled, PlanRunning, PlanCanary, PlanHeld, PlanPaused, PlanStopped)
}

// UndoPlan has a plan take back what it redrove and nobody has claimed since: dead letters
// again as they were, with what happened in their history. What was waiting stays dead.
// Somebody has to execute it. A plan that is done or cancelled can be undone too; an undo
// can be neither paused nor cancelled. Of one that is being undone already this changes
// nothing: whoever executed that may be gone. The error wraps [ErrPlanState] when the plan was undone.
func (q *Queue) UndoPlan(ctx context.Context, by, why string, id int64) (Plan, error) {
	p, err := q.turnPlan(ctx, "undo", by, why, id, PlanUndoing,
		PlanRunning, PlanCanary, PlanHeld, PlanPaused, PlanStopped, PlanDone, PlanCancelled)
	if errors.Is(err, ErrPlanState) && p.State == PlanUndoing {
		return p, nil
	}
	return p, err
}

// turnPlan brings a plan from one of some states into another, as a person asked for.
func (q *Queue) turnPlan(ctx context.Context, what, by, why string, id int64, to PlanState, from ...PlanState) (Plan, error) {
	turned, err := q.turn(ctx, id, what, by, why, nil, to, from...)
	if err != nil {
		return Plan{}, err
	}
	p, err := q.Plan(ctx, id)
	if err == nil && !turned {
		return p, fmt.Errorf("%s: %w", what, p.inNoState())
	}
	return p, err
}

// turn brings a plan into a state, and tells whether it was in one of those from which
// it may come there. With a token, only for whoever executes it.
func (q *Queue) turn(ctx context.Context, id int64, what, by, why string, token *string, to PlanState, from ...PlanState) (turned bool, err error) {
	states := make([]string, len(from)) // plain text, which can be sent without asking the server for its type
	for i, state := range from {
		states[i] = string(state)
	}
	args := []any{id, states, string(to), errorText(by), errorText(why), token, what}
	err = q.patiently(ctx, 0, func(ctx context.Context) error {
		turned = false
		return q.writeTurning(ctx, args, func(pgx.CollectableRow) error { turned = true; return nil })
	})
	return turned, q.failed(fmt.Sprintf("bring plan %d into the state %s", id, to), err)
}

// writeTurning waits for a batch of the plan that is under way, and not for who has the
// plan's row locked for long.
func (q *Queue) writeTurning(ctx context.Context, args []any, each func(pgx.CollectableRow) error) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return q.patientTransaction(ctx, conn.Conn(), "turn_patience", "plan_turn", args, each)
}
