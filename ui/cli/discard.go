package cli

import (
	"context"

	"github.com/leasetop/leasetop/queue"
)

// Discard moves dead letters to the archive and prints how many it moved, and which
// it skipped and why.
func Discard(ctx context.Context, p Printer, q *queue.Queue, why string, ids []int64) error {
	return p.act(ctx, "discarded", ids, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Discard(ctx, Operator(), why, ids...)
	})
}

// Restore moves discarded jobs back and prints how many it moved, and which it
// skipped and why.
func Restore(ctx context.Context, p Printer, q *queue.Queue, ids []int64) error {
	return p.act(ctx, "restored", ids, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Restore(ctx, Operator(), ids...)
	})
}
