package cli

import (
	"context"

	"github.com/leasetop/leasetop/queue"
)

// Redrive brings dead letters back and prints how many it brought back, and which it
// skipped and why.
func Redrive(ctx context.Context, p Printer, q *queue.Queue, ids []int64) error {
	return p.act(ctx, "redriven", ids, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Redrive(ctx, Operator(), ids...)
	})
}
