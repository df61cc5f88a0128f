package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue/filter"
)

// Filter chooses jobs of [Queue.List], [Queue.Scan] and [Queue.Matching]: those that pass
// all that it says. The zero value is every job.
type Filter struct {
	Queue    string        // "" is every queue
	Statuses []Status      // nil is every status
	Due      Due           // which of the pending; it leaves out no job of another status
	Where    filter.Filter // what a person says of them
}

// Due tells pending jobs apart by the database's clock.
type Due int

// Which pending jobs a [Filter] chooses.
const (
	DueOrNot Due = iota // all of them
	DueNow              // those that are ready
	DueLater            // those that are scheduled
)

// only is what the statements take.
func (d Due) only() *bool {
	if d != DueNow && d != DueLater {
		return nil
	}
	now := d == DueNow
	return &now
}

// Page is a stretch of a list.
type Page struct {
	Limit int     // rows; 0 is 100
	After *Cursor // what the page before returned; nil for the first
}

// Cursor is where a page ended. It names the last row seen, not a row number, so
// pages neither repeat nor skip rows while jobs come and go.
type Cursor struct {
	ID     int64
	DiedAt *time.Time // only in lists of dead letters
}

// List returns a page of jobs without payloads and histories: dead letters alone
// by death, newest first; any other choice by id, newest first. next is nil after
// the last page. Of last_error 1,000 characters
// are loaded, from the first that is not blank.
func (q *Queue) List(ctx context.Context, f Filter, p Page) (jobs []Job, next *Cursor, err error) {
	if p.Limit == 0 {
		p.Limit = 100
	}
	if err := f.check(); err != nil {
		return nil, nil, fmt.Errorf("list jobs: %w", err)
	}
	n, some := f.narrow()
	switch {
	case !some:
		return nil, nil, nil
	case n.deaths:
		found, err := q.deadLetters(ctx, f, DeadStretch{From: p.After, Limit: p.Limit, Look: math.MaxInt}, math.MaxInt64)
		return found.Jobs, found.Next, err
	}
	id := int64(math.MaxInt64)
	if p.After != nil {
		id = p.After.ID
	}
	// Planned each time: the planner must see which statuses are asked for to use a partial index.
	jobs, err = q.rows(ctx, "list", pgx.QueryExecModeCacheDescribe, n.queue(), n.statuses, n.due, n.path, n.wide, id, p.Limit)
	if err != nil {
		return nil, nil, q.failed("list jobs", err, "list")
	}
	if len(jobs) == p.Limit {
		next = &Cursor{ID: jobs[len(jobs)-1].ID}
	}
	return jobs, next, nil
}

// ByID returns the jobs of these ids as [Queue.List] does, newest id first. Those that
// there are not, or no more, are left out.
func (q *Queue) ByID(ctx context.Context, ids ...int64) ([]Job, error) {
	jobs, err := q.rows(ctx, "by_id", ids)
	return jobs, q.failed("list jobs by id", err, "by_id")
}

// Leases returns up to limit jobs in processing, earliest expiry first, without payloads
// and histories.
func (q *Queue) Leases(ctx context.Context, limit int) ([]Job, error) {
	jobs, err := q.rows(ctx, "leases", limit)
	return jobs, q.failed("list leases", err, "leases")
}

// Get returns one job, whole. The error wraps [ErrNotFound] when there is none of this id.
func (q *Queue) Get(ctx context.Context, id int64) (*Job, error) {
	job, _, err := q.get(ctx, "get", id, nil)
	return job, err
}

// Preview returns one job with only so many characters of its payload's text, cut
// by the database, for screens: a payload may be a hundred megabytes. length is
// the whole text's, in characters. When it was cut, Payload is no valid JSON. The error
// wraps [ErrNotFound] when there is no such job.
func (q *Queue) Preview(ctx context.Context, id int64, characters int) (job *Job, length int, err error) {
	return q.get(ctx, "get", id, &characters)
}

// get reads one job by a statement with the columns of get.sql, and more after them.
func (q *Queue) get(ctx context.Context, statement string, id int64, characters *int, more ...any) (*Job, int, error) {
	var j Job
	var payload string
	var length int
	var errs []byte
	err := q.pool.QueryRow(ctx, q.schema.Query(statement), id, characters).Scan(append([]any{
		&j.ID, &j.Queue, &j.Kind, &payload, &length,
		&j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt, atOrNull(&j.LockedAt), &j.LockedBy, atOrNull(&j.LeaseExpiresAt), &j.LastError,
		&errs, &j.Fingerprint, &j.IdempotencyKey, atOrNull(&j.DiedAt), at(&j.CreatedAt), at(&j.UpdatedAt), &j.CancelledBy,
	}, more...)...)
	if err == pgx.ErrNoRows {
		return nil, 0, fmt.Errorf("job %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, 0, q.failed(fmt.Sprintf("job %d", id), err, statement)
	}
	j.Payload = json.RawMessage(payload)
	j.Errors = history(errs)
	return &j, length, nil
}

// history reads the errors column leniently: any writer may have put there what
// it likes, and a job with a strange history must still be shown.
func history(raw []byte) []Attempt {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return []Attempt{}
	}
	attempts := make([]Attempt, 0, len(entries))
	for _, entry := range entries {
		var a Attempt
		if json.Unmarshal(entry, &a) != nil {
			a = Attempt{Outcome: "unknown", Error: string(entry)}
		}
		a.At = a.At.UTC() // it was written in the zone of whatever session it was
		attempts = append(attempts, a)
	}
	return attempts
}

func (q *Queue) rows(ctx context.Context, statement string, args ...any) ([]Job, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query(statement), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (j Job, err error) {
		err = row.Scan(j.columns()...)
		return j, err
	})
}

// columns are where a row of a list goes.
func (j *Job) columns() []any {
	return []any{
		&j.ID, &j.Queue, &j.Kind, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt, atOrNull(&j.LockedAt),
		&j.LockedBy, atOrNull(&j.LeaseExpiresAt), &j.LastError, &j.Fingerprint, &j.IdempotencyKey, atOrNull(&j.DiedAt),
		at(&j.CreatedAt), at(&j.UpdatedAt), &j.CancelledBy,
	}
}

// check refuses a status that there is not.
func (f *Filter) check() error {
	for _, s := range f.Statuses {
		if !s.known() {
			return fmt.Errorf("no status is called %q: use one of %v", s, Statuses)
		}
	}
	return nil
}

func (s Status) known() bool {
	switch s {
	case Pending, Processing, Completed, Failed, Dead:
		return true
	}
	return false
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
