package queue

import (
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
// its last error, however its worker gives it back or loses it. On an error,
// Cancelled says what was done before it.
func (q *Queue) Cancel(ctx context.Context, by string, ids ...int64) (Cancelled, error) {
	var done Cancelled
	err := q.act(ctx, "cancel", ids, []any{errorText(by)}, func(row pgx.CollectableRow) (id int64, err error) {
		var status Status
		var told *string
		if err := row.Scan(&id, &status, &told); err != nil {
			return 0, err
		}
		if status == Processing {
			done.Asked = append(done.Asked, id)
		} else {
			done.IDs = append(done.IDs, id)
		}
		return id, nil
	}, func(ctx context.Context, id int64) (string, error) {
		return q.statusOf(ctx, id, "already %s")
	}, &done.Skipped)
	return done, err
}
