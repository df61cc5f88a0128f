package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// actBatch is how many jobs an operator's act changes in one transaction.
const actBatch = 200

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

// act runs a statement on many jobs, a batch to a transaction. did is called for
// each row and returns the job's id; why is asked about each job without a row, and
// answers "" when it was done after all.
func (q *Queue) act(ctx context.Context, statement string, ids []int64, args []any,
	did func(pgx.CollectableRow) (int64, error), why func(context.Context, int64) (string, error), skipped *[]Skip,
) error {
	for batch := range slices.Chunk(distinct(ids), actBatch) {
		done := map[int64]bool{}
		err := q.write(ctx, statement, append([]any{batch}, args...), func(row pgx.CollectableRow) error {
			id, err := did(row)
			done[id] = true
			return err
		})
		if err != nil {
			return q.failed(statement, err)
		}
		for _, id := range batch {
			if done[id] {
				continue
			}
			reason, err := why(ctx, id)
			if err != nil {
				return q.failed(fmt.Sprintf("%s job %d", statement, id), err)
			}
			if reason != "" {
				*skipped = append(*skipped, Skip{id, reason})
			}
		}
	}
	return nil
}

// distinct returns ids in their order, each once.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	out := make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
