package cli

import (
	"context"

	"github.com/leasetop/leasetop/queue"
)

// RunNow makes scheduled jobs due and prints how many it made so, and which it skipped and
// why.
func RunNow(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	return p.act(ctx, q, "run now", "due", jobs, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.RunNow(ctx, Operator(), ids...)
	})
}
