package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// insertBatch is how many jobs go into one statement that is no COPY.
const insertBatch = 5000

// EnqueueMany is Enqueue for any number of jobs: one transaction, all or none. Jobs
// without an idempotency key go in by COPY. Workers are woken as by [Queue.Enqueue].
func (q *Queue) EnqueueMany(ctx context.Context, jobs []NewJob) ([]Enqueued, error) {
	jobs, err := checked(jobs)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	var out []Enqueued
	err = q.quietly(ctx, func(tx pgx.Tx) error {
		out, err = q.enqueueMany(ctx, tx, jobs)
		return err
	})
	if err != nil {
		return nil, q.failed("enqueue", err, "enqueue")
	}
	q.wakeSoon(added(jobs, out)...)
	return out, nil
}

// EnqueueManyTx is EnqueueMany in the caller's transaction: the jobs exist, and
// workers are woken, if and when it commits; see [Queue.EnqueueTx].
func (q *Queue) EnqueueManyTx(ctx context.Context, tx pgx.Tx, jobs []NewJob) ([]Enqueued, error) {
	jobs, err := checked(jobs)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	out, err := q.enqueueMany(ctx, tx, jobs)
	if err != nil {
		return nil, q.failed("enqueue", err, "enqueue")
	}
	return out, nil
}

func (q *Queue) enqueueMany(ctx context.Context, tx pgx.Tx, jobs []NewJob) ([]Enqueued, error) {
	out := make([]Enqueued, len(jobs))
	var plain, keyed []int
	for i := range jobs {
		if jobs[i].IdempotencyKey == "" {
			plain = append(plain, i)
		} else {
			keyed = append(keyed, i)
		}
	}
	// The order in which enqueue.sql inserts, so that two calls do not wait for each
	// other's keys in opposite orders.
	slices.SortStableFunc(keyed, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].Queue, jobs[b].Queue), cmp.Compare(jobs[a].IdempotencyKey, jobs[b].IdempotencyKey))
	})
	for batch := range slices.Chunk(keyed, insertBatch) {
		if err := q.insertAll(ctx, tx, jobs, batch, out); err != nil {
			return nil, err
		}
	}
	if len(plain) == 0 {
		return out, nil
	}
	return out, q.copyIn(ctx, tx, jobs, plain, out)
}

// copyIn brings jobs in by COPY, which returns no ids: they are reserved first. Where
// row-level security filters what this role writes, PostgreSQL has no COPY.
func (q *Queue) copyIn(ctx context.Context, tx pgx.Tx, jobs []NewJob, plain []int, out []Enqueued) error {
	rows, err := tx.Query(ctx, q.schema.Query("reserve_ids"), len(plain))
	if err != nil {
		return err
	}
	var id int64
	var now time.Time
	var filtered bool
	ids := make([]int64, 0, len(plain))
	if _, err := pgx.ForEachRow(rows, []any{&id, &now, &filtered}, func() error {
		ids = append(ids, id)
		return nil
	}); err != nil {
		return err
	}
	if filtered {
		for batch := range slices.Chunk(plain, insertBatch) {
			if err := q.insertAll(ctx, tx, jobs, batch, out); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{q.schema.Name(), "jobs"},
		[]string{"id", "queue", "kind", "payload", "run_at", "max_attempts"},
		pgx.CopyFromSlice(len(plain), func(i int) ([]any, error) {
			job := &jobs[plain[i]]
			out[plain[i]] = Enqueued{ID: ids[i]}
			runAt := job.RunAt
			if !job.timed() {
				runAt = At(now.Add(max(job.Delay, 0)))
			}
			return []any{ids[i], job.Queue, job.Kind, job.Payload, runAt, int32(job.MaxAttempts)}, nil
		}))
	return atJob(explain(err), plain)
}

var number = regexp.MustCompile(`[0-9]+`)

// atJob names the job at which a COPY of these failed: the last line of the error's
// context counts the rows, in whatever language.
func atJob(err error, plain []int) error {
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) {
		return err
	}
	line, numberErr := strconv.Atoi(number.FindString(pg.Where[strings.LastIndexByte(pg.Where, '\n')+1:]))
	if numberErr != nil || line < 1 || line > len(plain) {
		return err
	}
	return fmt.Errorf("job %d: %w", plain[line-1]+1, err)
}
