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
// [ErrLeaseLost] when the lease is another's by now, [ErrLocked] when another transaction has
// the job locked and keeps it so for seconds, and [ErrRowRefused] when the server refuses to
// change its row.
func (q *Queue) TakeBack(ctx context.Context, by string, lease Lease) error {
	operation := fmt.Sprintf("take back job %d", lease.ID)
	var status Status
	var queue string
	err := q.patiently(ctx, lease.ID, func(ctx context.Context) error {
		return q.writePatiently(ctx, "take_back", []any{lease.ID, lease.Token, errorText(by)}, func(row pgx.CollectableRow) error {
			return row.Scan(&status, &queue, nil)
		})
	})
	refusal, refused := refusalOf(lease.ID, "take back", err)
	switch {
	case refused:
		return refusal
	case err != nil:
		return q.failed(operation, err)
	case status == "":
		if job, _, err := q.Preview(ctx, lease.ID, 0); err == nil && job.Status == Processing && job.Lease() == lease {
			return leftAlone(lease.ID, "take back")
		}
		return fmt.Errorf("%s: %w", operation, ErrLeaseLost)
	case status == Pending:
		q.Forget(queue)        // it keeps its run_at: it stands before the mark
		_ = q.Wake(ctx, queue) // polling covers a failure
	}
	return nil
}
