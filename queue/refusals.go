package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Refusals returns each [Refusal] that an error wraps or joins; none for other errors.
func Refusals(err error) (all []*Refusal) {
	switch e := err.(type) { //nolint:errorlint // it is the walk itself
	case nil:
	case *Refusal:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, Refusals(one)...)
		}
	case interface{ Unwrap() error }:
		all = Refusals(e.Unwrap())
	}
	return all
}

// joined is many refusals as one error; nil for none.
func joined(refusals []*Refusal) error {
	all := make([]error, len(refusals))
	for i, r := range refusals {
		all[i] = r
	}
	return errors.Join(all...)
}

// notePatience bounds the writing of notes, for which nobody waits.
const notePatience = 5 * time.Second

// notes are refusals on their way to where every dashboard finds them. The zero value is ready.
type notes struct {
	mu      sync.Mutex
	pending []note
	writing bool
	written sync.WaitGroup // for Close
}

// note is a refusal, who met it, and what the job's row must have for it to hold: "" is the
// version that it has when the note is written, an owner's token is for as long as the lease is.
type note struct {
	*Refusal
	who, version string
}

// note has refusals written as well as that can be done, behind the caller's back: a role
// without the right to, or an older schema, goes without.
func (q *Queue) note(fresh ...note) {
	if len(fresh) == 0 {
		return
	}
	n := &q.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = append(n.pending, fresh...)
	if len(n.pending) > 2*passedMost { // the server does not take them
		n.pending = n.pending[len(n.pending)-passedMost:]
	}
	if !n.writing {
		n.writing = true
		n.written.Go(q.writeNotes)
	}
}

func (q *Queue) writeNotes() {
	for {
		q.notes.mu.Lock()
		pending := q.notes.pending
		q.notes.pending = nil
		q.notes.writing = len(pending) > 0
		q.notes.mu.Unlock()
		if len(pending) == 0 {
			return
		}
		byID := map[int64]note{} // the newest of each job
		for _, n := range pending {
			byID[n.JobID] = n
		}
		var ids []int64
		var acts, states, reasons, details, versions, who []string
		for id, n := range byID {
			ids, acts, states = append(ids, id), append(acts, n.Act), append(states, n.SQLSTATE)
			reasons, details = append(reasons, n.Reason), append(details, n.Detail)
			versions, who = append(versions, n.version), append(who, bounded(n.who, reasonLimit))
		}
		ctx, cancel := context.WithTimeout(context.Background(), notePatience)
		_ = q.write(ctx, "refusals_note", []any{ids, acts, states, reasons, details, versions, who}, func(pgx.CollectableRow) error { return nil })
		cancel()
	}
}

// noteLeased is note for leased jobs, whose leases go on being renewed meanwhile.
func (q *Queue) noteLeased(leases []Lease, refusals []*Refusal) {
	if len(refusals) == 0 {
		return
	}
	tokens := make(map[int64]string, len(leases))
	for _, l := range leases {
		tokens[l.ID] = l.Token
	}
	for _, r := range refusals {
		q.note(note{r, tokens[r.JobID], tokens[r.JobID]})
	}
}

// Refused is a job that the server refused to change lately, as the process that met it noted.
type Refused struct {
	Refusal
	Queue       string
	By          string    // the process that met it
	First, Last time.Time // database clock
	Times       int
}

// Refused lists up to limit jobs that the server refuses to change, those refused longest
// first, as processes that met them noted; a job that was changed since is not listed. Of
// a schema that keeps no such notes, or keeps them from this role, it lists none.
func (q *Queue) Refused(ctx context.Context, limit int) ([]Refused, error) {
	return q.refused(ctx, nil, limit)
}

// RefusedJob is [Queue.Refused] of one job; nil when it is not refused.
func (q *Queue) RefusedJob(ctx context.Context, id int64) (*Refused, error) {
	all, err := q.refused(ctx, &id, 1)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (q *Queue) refused(ctx context.Context, id *int64, limit int) ([]Refused, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("refusals"), id, limit)
	var all []Refused
	if err == nil {
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Refused, err error) {
			return r, row.Scan(&r.JobID, &r.Queue, &r.Act, &r.SQLSTATE, &r.Reason, &r.Detail, &r.By, &r.First, &r.Last, &r.Times)
		})
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "42501") { // undefined_table, insufficient_privilege
		return nil, nil
	}
	return all, q.failed("list what the server refuses", err)
}
