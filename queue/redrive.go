package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Done is what an operator's act did, job by job.
type Done struct {
	IDs     []int64 // those it was done to
	Skipped []Skip
}

// Skip is a job left as it was.
type Skip struct {
	ID     int64
	Reason string
}

// Redrive brings dead letters back: pending now, with a fresh budget of attempts
// and their history kept. Each is its own transaction, so one that cannot be
// brought back (it is running, or gone, or its idempotency key is in use) is
// skipped with its reason and stops nothing. by is noted in the history. On an
// error, Done says what was done before it.
func (q *Queue) Redrive(ctx context.Context, by string, ids ...int64) (Done, error) {
	var done Done
	woken := map[string]bool{}
	// The jobs are back even when the caller gives up in the middle: wake for them anyway.
	defer func() { q.Wake(context.WithoutCancel(ctx), slices.Sorted(maps.Keys(woken))...) }() // polling covers a failure
	seen := map[int64]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		queue, err := q.redrive(ctx, by, id)
		switch pg := (*pgconn.PgError)(nil); {
		case errors.As(err, &pg) && pg.Code == "23505": // unique_violation on jobs_idempotency
			reason, err := q.keyInUse(ctx, id)
			if err != nil {
				return done, q.failed(fmt.Sprintf("redrive job %d", id), err)
			}
			done.Skipped = append(done.Skipped, Skip{id, reason})
		case err != nil:
			return done, q.failed(fmt.Sprintf("redrive job %d", id), err)
		case queue == "":
			reason, err := q.statusOf(ctx, id, "not a dead letter: %s")
			if err != nil {
				return done, q.failed(fmt.Sprintf("redrive job %d", id), err)
			}
			done.Skipped = append(done.Skipped, Skip{id, reason})
		default:
			woken[queue] = true
			done.IDs = append(done.IDs, id)
		}
	}
	return done, nil
}

// DeadIDs returns every dead letter there is now, of one queue or ("") of all,
// oldest death first. A redrive of many acts on this set, fixed at its start, so
// jobs that fail again at once are not redriven without end.
func (q *Queue) DeadIDs(ctx context.Context, queue string) ([]int64, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("dead_ids"), nullable(queue))
	if err != nil {
		return nil, q.failed("list dead letters", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, q.failed("list dead letters", err)
}

func (q *Queue) redrive(ctx context.Context, by string, id int64) (queue string, err error) {
	err = q.write(ctx, "redrive", []any{id, errorText(by)}, func(row pgx.CollectableRow) error {
		return row.Scan(&queue)
	})
	return queue, err
}

func (q *Queue) keyInUse(ctx context.Context, id int64) (string, error) {
	job, _, err := q.Preview(ctx, id, 0)
	if err != nil {
		return "", err
	}
	rows, err := q.pool.Query(ctx, q.schema.Query("key_holders"), []string{job.Queue}, []string{job.IdempotencyKey})
	if err != nil {
		return "", err
	}
	var queue, key string
	var holder int64
	if _, err := pgx.ForEachRow(rows, []any{&queue, &key, &holder}, func() error { return nil }); err != nil {
		return "", err
	}
	if holder == 0 {
		return "idempotency key was in use a moment ago: try again", nil
	}
	return fmt.Sprintf("idempotency key in use by #%d", holder), nil
}

// statusOf says in words why a job was not what was expected: format with its
// status, or that there is none.
func (q *Queue) statusOf(ctx context.Context, id int64, format string) (string, error) {
	job, _, err := q.Preview(ctx, id, 0)
	if errors.Is(err, ErrNotFound) {
		return "no such job", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(format, job.Status), nil
}
