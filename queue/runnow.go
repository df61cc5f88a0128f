package queue

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// RunNow makes scheduled jobs due now and wakes their workers. A job that is not pending,
// or due already, is skipped. by is noted in the history. On an error, Done says what was
// done before it.
func (q *Queue) RunNow(ctx context.Context, by string, ids ...int64) (Done, error) {
	var done Done
	woken := map[string]bool{}
	defer func() { q.Wake(context.WithoutCancel(ctx), slices.Sorted(maps.Keys(woken))...) }() // polling covers a failure
	did := func(row pgx.CollectableRow) (id int64, note func(), err error) {
		var queue string
		err = row.Scan(&id, &queue)
		return id, func() { done.IDs, woken[queue] = append(done.IDs, id), true }, err
	}
	err := q.act(ctx, acting{statement: "run_now", args: []any{errorText(by)}, did: did, skipped: &done.Skipped, why: func(ctx context.Context, id int64) (Skip, error) {
		skip, err := q.statusOf(ctx, id, "not waiting: %s", func(s Status) bool { return s == Pending })
		if err != nil || skip.Reason != changed {
			return skip, err
		}
		switch wait, err := q.WhyWaiting(ctx, id); {
		case errors.Is(err, ErrNotFound), err == nil && (wait.Never || wait.Due > 0):
			return skip, nil
		default:
			return Skip{Reason: "due already"}, err
		}
	}}, ids)
	return done, err
}
