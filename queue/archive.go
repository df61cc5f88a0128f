package queue

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// Discard moves dead letters to the table jobs_archive, as they are, where nothing
// claims, lists or redrives them. [Queue.Restore] brings them back; only
// [Queue.Purge] deletes them. by and why are noted with them, and within [Queue.Logged] the
// entry: see [Queue.ArchivedByAct]. A job that is no dead
// letter is skipped. On an error, Done says what was done before it.
func (q *Queue) Discard(ctx context.Context, by, why string, ids ...int64) (Done, error) {
	var done Done
	args := []any{errorText(by), errorText(why), entryOf(ctx)}
	err := q.act(ctx, acting{statement: "discard", args: args, did: done.add, skipped: &done.Skipped, why: func(ctx context.Context, id int64) (Skip, error) {
		status, archived, err := q.whereabouts(ctx, id)
		switch {
		case err == nil && status == "":
			return q.missing(ctx, id)
		case !status.IsDeadLetter():
			return Skip{Reason: "not a dead letter: " + string(status)}, err
		case archived:
			return Skip{Reason: "the archive holds another job of this id: purge it first"}, err
		}
		return Skip{Reason: changed}, err
	}}, ids)
	return done, err
}

// Restore moves discarded jobs back, as they were: dead letters again, at the place
// in the list that their death gives them. by is noted in the history. A job that is
// not in the archive is skipped. On an error, Done says what was done before it.
func (q *Queue) Restore(ctx context.Context, by string, ids ...int64) (Done, error) {
	var done Done
	err := q.act(ctx, acting{statement: "restore", lockers: "lockers_archived", args: []any{errorText(by)}, did: done.add, skipped: &done.Skipped, why: func(ctx context.Context, id int64) (Skip, error) {
		status, archived, err := q.whereabouts(ctx, id)
		switch {
		case status == "" && archived:
			return Skip{Reason: changed}, err
		case status == "":
			return Skip{Reason: "not in the archive", Failed: true}, err
		case archived:
			return Skip{Reason: "there is another job of this id: " + string(status)}, err
		}
		return Skip{Reason: "not in the archive, but " + string(status)}, err
	}}, ids)
	return done, err
}

// whereabouts tells a job's status, "" when there is none, and whether the archive has one of its id.
func (q *Queue) whereabouts(ctx context.Context, id int64) (Status, bool, error) {
	var status *Status
	var archived bool
	if err := q.pool.QueryRow(ctx, q.schema.Query("whereabouts"), id).Scan(&status, &archived); err != nil {
		return "", false, err
	}
	if status == nil {
		return "", archived, nil
	}
	return *status, archived, nil
}

// add notes a job that something was done to.
func (d *Done) add(row pgx.CollectableRow) (id int64, note func(), err error) {
	err = row.Scan(&id)
	return id, func() { d.IDs = append(d.IDs, id) }, err
}

// Archived is a discarded job: as it was, and when, by whom and why it was discarded.
type Archived struct {
	Job
	ArchivedAt  time.Time `json:"archived_at"` // the database's clock
	ArchivedBy  string    `json:"archived_by"`
	ArchivedWhy string    `json:"archived_why"`
}

// Archive returns up to limit discarded jobs of one queue or ("") of all, without
// payloads and histories, newest id first: those with ids below before, which is 0
// for the first page.
func (q *Queue) Archive(ctx context.Context, queue string, before int64, limit int) ([]Archived, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := q.pool.Query(ctx, q.schema.Query("archive"), nullable(queue), before, limit)
	if err != nil {
		return nil, q.failed("list the archive", err, "archive")
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Archived, err error) {
		err = row.Scan(&a.ID, &a.Queue, &a.Kind, &a.Status, &a.Attempts, &a.MaxAttempts, &a.RunAt, &a.LastError,
			&a.Fingerprint, &a.IdempotencyKey, atOrNull(&a.DiedAt), at(&a.CreatedAt), at(&a.UpdatedAt), &a.CancelledBy, at(&a.ArchivedAt), &a.ArchivedBy, &a.ArchivedWhy)
		return a, err
	})
	return jobs, q.failed("list the archive", err, "archive")
}
