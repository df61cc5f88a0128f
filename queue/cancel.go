package queue

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
)

// Cancelled is what a cancel did, job by job.
type Cancelled struct {
	IDs     []int64 // were pending: dead now
	Asked   []int64 // are running: their workers were asked to end them
	Skipped []Skip
}

// Cancel ends jobs that nobody wants any more. A pending job is dead at once. A
// running one cannot be ended from outside: its worker finds out within moments,
// or by its next heartbeat, and cancels the handler's context with the cause
// [ErrCancelled]. Unless the job completes all the same, it ends as dead, with by in
// its last error, however its worker gives it back or loses it. Who asked first is
// noted. A job that ended before is skipped. On an error, Cancelled says what was done
// before it.
func (q *Queue) Cancel(ctx context.Context, by string, ids ...int64) (Cancelled, error) {
	var done Cancelled
	by = cmp.Or(errorText(by), "somebody") // the table's mark of a cancelled job
	err := q.act(ctx, acting{statement: "cancel", args: []any{by, false}, did: done.add, skipped: &done.Skipped, why: func(ctx context.Context, id int64) (Skip, error) {
		// A running one alone: whoever waits for its row must not keep beats off others.
		alone, err := q.actOn(ctx, "cancel", []int64{id}, []any{by, true}, done.add)
		if err != nil || alone[id] {
			return Skip{}, err
		}
		return q.statusOf(ctx, id, "already %s", func(s Status) bool { return s == Pending || s == Processing })
	}}, ids)
	return done, err
}

// add notes a job that is dead now, or whose worker was asked.
func (c *Cancelled) add(row pgx.CollectableRow) (id int64, note func(), err error) {
	var status Status
	err = row.Scan(&id, &status, nil)
	return id, func() {
		if status == Processing {
			c.Asked = append(c.Asked, id)
		} else {
			c.IDs = append(c.IDs, id)
		}
	}, err
}
