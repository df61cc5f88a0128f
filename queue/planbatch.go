package queue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// planBatch is how many jobs one transaction of a plan moves at most.
	planBatch = 500
	// planQuick and planSlow are between which a transaction of a plan should take: a batch that is quicker
	// lets the next one be larger, a slower one smaller.
	planQuick, planSlow = 40 * time.Millisecond, 80 * time.Millisecond
	// planStuck is how long jobs may wait, all in all, for rows and keys that others have locked, before
	// they are passed over. It begins anew with whoever executes the plan next.
	planStuck = 3 * time.Second
)

// batch moves the next jobs of the plan, those behind a position, and returns how many were redriven or
// taken back. None, without an error, also when the plan is not any more as the caller
// saw it. What one job meets (a key, a lock, a constraint of somebody's) fails the
// whole transaction: the next batches are smaller until it is alone, and passed over. One that is locked has
// its turn again when all others had theirs.
func (e *execution) batch(ctx context.Context, statement, pass string, from int64, n int) (did int64, err error) {
	n = min(n, e.size, e.most)
	began := time.Now()
	did, err = e.move(ctx, statement, from, n, planLease.Seconds())
	took := time.Since(began)
	if err == nil {
		switch {
		case took > planSlow:
			e.size = max(n/2, 1)
		case took < planQuick:
			e.size = min(e.size*2, e.most)
		}
		return did, nil
	}
	reason, held := refusal(err)
	if cut := e.q.cut(err); cut != nil && cut.asked && cut.byTimeout() {
		reason = fmt.Sprintf(refuses+"it takes longer than this role's statement_timeout of %v", cut.limit)
	}
	if reason == "" {
		return 0, err
	}
	if held { // by whoever has the table, no job is to blame
		if table := e.q.tableHeld(ctx); table != nil {
			return 0, table
		}
	}
	switch {
	case n > 1:
		e.size = n / 2
		return 0, nil
	case held && statement == "plan_redrive" && e.later > from+1:
		err = e.moveOne(ctx, "plan_defer", from, e.later)
		if err == nil {
			e.later--
		}
		return 0, err
	case held && e.stuck < planStuck:
		e.stuck += took
		return 0, nil
	case held:
		if reason, err = e.locker(ctx, statement, from); err != nil {
			return 0, err
		}
		if reason == nobodyKnown { // a key, and no row: once more, before a witness
			saw, held, err := beforeWitness(ctx, func(ctx context.Context) (bool, error) {
				did, err = e.move(ctx, statement, from, 1, planLease.Seconds())
				if _, held := refusal(err); held {
					return true, nil
				}
				return false, err
			})
			if refused, _ := refusal(err); refused != "" {
				return 0, nil // the next try is told so
			} else if !held {
				return did, err
			}
			reason = cmp.Or(saw, reason)
		}
	}
	return 0, e.moveOne(ctx, pass, from, reason)
}

// moveOne moves one job of the plan, and names who has the plan locked.
func (e *execution) moveOne(ctx context.Context, statement string, from int64, arg any) error {
	return e.q.patiently(ctx, 0, func(ctx context.Context) error {
		_, err := e.move(ctx, statement, from, arg, planLease.Seconds())
		return err
	})
}

// move runs a statement that moves jobs. It is finished when ctx ends meanwhile.
func (e *execution) move(ctx context.Context, statement string, from int64, args ...any) (did int64, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	conn, err := e.q.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	args = append([]any{e.id, e.token, from}, args...)
	err = e.q.patientTransaction(ctx, conn.Conn(), "plan_patience", statement, args, func(row pgx.CollectableRow) error {
		e.kept = time.Now()
		return row.Scan(&did, nil)
	})
	if err != nil {
		return 0, err // what the row said was not committed
	}
	return did, nil
}

// locker says who has the next job of the plan locked.
func (e *execution) locker(ctx context.Context, statement string, from int64) (reason string, err error) {
	position := from
	if statement == "plan_redrive" {
		position++
	}
	var id int64
	if err := e.q.pool.QueryRow(ctx, e.q.schema.Query("plan_job_at"), e.id, position).Scan(&id); err != nil {
		return "", e.q.failed("find out who has a job locked", err, "plan_job_at")
	}
	return e.q.whoLocks(ctx, "lockers", id), nil
}

// refusal says in words why a job was not moved when that is about the job; "" when it is
// about something else. held tells that it may be otherwise in a moment.
func refusal(err error) (reason string, held bool) {
	switch {
	case holdsKey(err):
		return "idempotency key was in use a moment ago", false
	case locked(err):
		return "locked by another transaction", true
	}
	r, refused := refusalOf(0, "redrive", err)
	switch {
	case !refused:
		return "", false
	case r.Detail == "":
		return refuses + r.Reason, false
	}
	return refuses + r.Reason + ": " + r.Detail, false
}
