package cli

import (
	"context"

	"github.com/leasetop/leasetop/queue"
)

// Redrive brings dead letters back and prints how many it brought back, and which it
// skipped and why.
func Redrive(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	return p.act(ctx, q, "redrive", "redriven", jobs, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Redrive(ctx, Operator(), ids...)
	})
}
