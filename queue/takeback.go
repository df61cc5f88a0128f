package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// TakeBack ends the claim of one running job, as it stands under this lease, and makes it
// pending, the attempt returned: for owners that are known to be gone, before their lease
// runs out. Whoever owned it is fenced, and finds out within moments, or by its next
// heartbeat; its handler may have gone on until then, so the effect may come twice. A job
// that somebody cancelled is dead instead. by is noted in the history. The error wraps
// [ErrLeaseLost] when the lease is another's by now.
func (q *Queue) TakeBack(ctx context.Context, by string, lease Lease) error {
	operation := fmt.Sprintf("take back job %d", lease.ID)
	var status Status
	var queue string
	err := finishing(ctx, func(ctx context.Context) error {
		return q.write(ctx, "take_back", []any{lease.ID, lease.Token, errorText(by)}, func(row pgx.CollectableRow) error {
			return row.Scan(&status, &queue, nil)
		})
	})
	switch {
	case err != nil:
		return q.failed(operation, err)
	case status == "":
		return fmt.Errorf("%s: %w", operation, ErrLeaseLost)
	case status == Pending:
		q.Forget(queue)        // it keeps its run_at: it stands before the mark
		_ = q.Wake(ctx, queue) // polling covers a failure
	}
	return nil
}
