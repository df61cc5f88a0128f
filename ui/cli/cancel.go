package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Cancel ends jobs that nobody wants any more. It prints how many are dead now, how
// many run and whose workers were asked to end them, and which it skipped and why. It
// does not wait for the workers: [Show] tells what came of it.
func Cancel(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	var done queue.Cancelled
	reached := func() int { return len(done.IDs) + len(done.Asked) }
	failed := entered(ctx, q, "cancel", jobs, func(ctx context.Context) (int, int, error) {
		err := p.inBatches(ctx, "cancelled", jobs.IDs, func(ctx context.Context, ids ...int64) (int, error) {
			some, err := q.Cancel(ctx, Operator(), ids...)
			done.IDs, done.Asked, done.Skipped = append(done.IDs, some.IDs...), append(done.Asked, some.Asked...), append(done.Skipped, some.Skipped...)
			return len(some.IDs) + len(some.Asked) + len(some.Skipped), err
		})
		return reached(), len(done.Skipped), err
	})
	if failed != nil && reached()+len(done.Skipped) == 0 {
		return failed
	}
	failed = errors.Join(failed, left(done.Skipped, len(jobs.IDs)))
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		report := map[string]any{"cancelled": list(done.IDs), "asked": list(done.Asked), "skipped": skips(done.Skipped)}
		return errors.Join(line(out, report), out.Flush(), failed)
	}
	fmt.Fprintf(out, "cancelled %d, asked %d, skipped %d\n", len(done.IDs), len(done.Asked), len(done.Skipped))
	for _, id := range done.Asked {
		fmt.Fprintf(out, "asked %d: it is running, and its worker was asked to end it (`leasetop show %d` tells what came of it)\n", id, id)
	}
	printSkipped(out, done.Skipped)
	return errors.Join(out.Flush(), failed)
}
