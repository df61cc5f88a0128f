package cli

import (
	"context"
	"fmt"

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

// DiscardedBy are the jobs that an entry of the operator log discarded and that are in the
// archive still. The error says when the entry is of something else.
func DiscardedBy(ctx context.Context, q *queue.Queue, entry int64, why string) (Chosen, error) {
	acts, err := q.Acts(ctx, entry+1, 1)
	switch {
	case err != nil:
		return Chosen{}, err
	case len(acts) == 0 || acts[0].ID != entry:
		return Chosen{}, fmt.Errorf("the operator log has no entry %d: `leasetop log` lists them", entry)
	case acts[0].What != "discard":
		return Chosen{}, fmt.Errorf("entry %d of the operator log is no discard, but: %s", entry, acts[0].What)
	}
	ids, err := q.ArchivedByAct(ctx, entry)
	return Chosen{IDs: ids, Filter: fmt.Sprintf("act %d", entry), Why: why}, err
}
