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

// Done is what an operator's act did, job by job. A job that was named twice is in it once.
type Done struct {
	IDs     []int64 // those it was done to
	Skipped []Skip
}

// Skip is a job left as it was. Reason and Detail may hold text of the database.
type Skip struct {
	ID     int64
	Reason string // in words, for a person
	Detail string // what the server adds to its reason, which may hold values of the row; "" nothing
	// Failed tells that the job is not as the act should have left it: there is no such job,
	// somebody has it locked, or the server refuses to change its row. Else there was nothing
	// to be done, or something else stands against it: it ended before, or is no dead letter.
	Failed bool
}

// Redrive brings dead letters back: pending now, with a fresh budget of attempts
// and their history kept. One that cannot be brought back (it is running, or gone, or
// its idempotency key is in use) is skipped with its reason and stops nothing. Those
// without an idempotency key go many to a transaction, those with one alone. by is
// noted in the history. On an error, Done says what was done before it.
func (q *Queue) Redrive(ctx context.Context, by string, ids ...int64) (Done, error) {
	var done Done
	woken := map[string]bool{}
	// The jobs are back even when the caller gives up in the middle: wake for them anyway.
	defer func() { q.Wake(context.WithoutCancel(ctx), slices.Sorted(maps.Keys(woken))...) }() // polling covers a failure
	by = errorText(by)
	did := func(row pgx.CollectableRow) (id int64, note func(), err error) {
		var queue string
		err = row.Scan(&id, &queue)
		return id, func() { done.IDs, woken[queue] = append(done.IDs, id), true }, err
	}
	err := q.act(ctx, acting{statement: "redrive", args: []any{by, false}, did: did, skipped: &done.Skipped, why: func(ctx context.Context, id int64) (Skip, error) {
		return q.redriveAlone(ctx, by, id, did)
	}}, ids)
	return done, err
}

// redriveAlone redrives one job, whatever its key, or says why not.
func (q *Queue) redriveAlone(ctx context.Context, by string, id int64, did did) (Skip, error) {
	alone, err := q.actOn(ctx, "redrive", []int64{id}, []any{by, true}, did)
	switch {
	case holdsKey(err):
		reason, err := q.keyInUse(ctx, id)
		return Skip{Reason: reason}, err
	case err != nil || alone[id]:
		return Skip{}, err
	}
	return q.statusOf(ctx, id, "not a dead letter: %s", Status.IsDeadLetter)
}

// holdsKey tells whether a job could not be made pending since a live one has its
// idempotency key.
func holdsKey(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "jobs_idempotency" // unique_violation
}

func (q *Queue) keyInUse(ctx context.Context, id int64) (string, error) {
	job, _, err := q.Preview(ctx, id, 0)
	if errors.Is(err, ErrNotFound) {
		skip, err := q.missing(ctx, id)
		return skip.Reason, err
	}
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

// changed is the reason when a job was not what it had to be, and now is.
const changed = "changed a moment ago: try again"

// NoSuchJob is the reason of a [Skip], and of a [PlanJob], when there is no job of the id.
const NoSuchJob = "no such job"

// statusOf says in words why a job was not what was expected: format with its
// status, unless that fits by now, or that it is elsewhere.
func (q *Queue) statusOf(ctx context.Context, id int64, format string, fits func(Status) bool) (Skip, error) {
	job, _, err := q.Preview(ctx, id, 0)
	if errors.Is(err, ErrNotFound) {
		return q.missing(ctx, id)
	}
	if err != nil {
		return Skip{}, err
	}
	if fits(job.Status) {
		return Skip{Reason: changed}, nil
	}
	return Skip{Reason: fmt.Sprintf(format, job.Status)}, nil
}

// missing says where a job is that is not in the table.
func (q *Queue) missing(ctx context.Context, id int64) (Skip, error) {
	switch _, _, err := q.PreviewArchived(ctx, id, 0); {
	case err == nil:
		return Skip{Reason: "already discarded"}, nil
	case errors.Is(err, ErrNotFound), errors.As(err, new(*pgconn.PgError)): // who may not look there is told what is known
		return Skip{Reason: NoSuchJob, Failed: true}, nil
	default:
		return Skip{}, err
	}
}
