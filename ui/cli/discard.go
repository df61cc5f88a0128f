package cli

import (
	"context"

	"github.com/leasetop/leasetop/queue"
)

// Discard moves dead letters to the archive and prints how many it moved, and which
// it skipped and why.
func Discard(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	return p.act(ctx, q, "discard", "discarded", jobs, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Discard(ctx, Operator(), jobs.Why, ids...)
	})
}

// Restore moves discarded jobs back and prints how many it moved, and which it
// skipped and why.
func Restore(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	return p.act(ctx, q, "restore", "restored", jobs, func(ctx context.Context, ids ...int64) (queue.Done, error) {
		return q.Restore(ctx, Operator(), ids...)
	})
}
