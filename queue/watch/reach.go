package watch

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	countCap = 100_000 // no count of a poll goes further
	leastCap = 100

	growAfter = 30 * time.Second // before counts that took too long are tried further again
	growMost  = 10 * time.Minute
)

// reach is how far the counts of polls go: less far where they took longer than the
// database allows, and after a while further again. The zero value is all the way.
type reach struct {
	down  int           // by so many powers of ten
	since time.Time     // of the last change
	wait  time.Duration // before the next try to grow
	trial bool          // it grew, and may turn out to be too far again
	told  int           // down, as it is in Events
}

func (r *reach) cap() int {
	n := countCap
	for range r.down {
		n /= 10
	}
	return n
}

// tooFar takes a reading that was cancelled for its length. It returns false when there
// is no shorter one.
func (r *reach) tooFar(now time.Time) bool {
	if r.cap() <= leastCap {
		return false
	}
	if r.trial {
		r.wait = min(2*r.wait, growMost)
	} else {
		r.wait = growAfter
	}
	r.down, r.since, r.trial = r.down+1, now, false
	return true
}

// through takes a reading that was made, and has the next go further when it is time to try.
func (r *reach) through(now time.Time) {
	stood := now.Sub(r.since)
	if r.trial && stood >= growAfter {
		r.trial, r.wait = false, growAfter
	}
	if r.down > 0 && !r.trial && stood >= r.wait {
		r.down, r.since, r.trial = r.down-1, now, true
	}
}

// errTooFar says that counting took too long, and that the next poll counts less far.
var errTooFar = errors.New("counted too far")

// canceled tells whether the database ended a statement, for its length or since somebody
// cancelled it.
func canceled(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == canceledCode
}

// tookTooLong tells whether a reading was given up for its length: by the database or,
// where a pooler keeps us from telling it when to, by us.
func (f *Feed) tookTooLong(ctx context.Context, err error) bool {
	return f.reader.TookTooLong(err) || f.allowed() == "" && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// allowed is the statement_timeout of the feed's readings, as PostgreSQL says it.
func (f *Feed) allowed() (limit string) {
	f.note(func() { limit = f.limit })
	return limit
}

// theirs tells whether the limit is the database's and not ours.
func theirs(limit string) bool { return limit != "" && limit != inWords(statementTimeout) }

// sayReading is say for what stopped a reading.
func (f *Feed) sayReading(err error) string {
	limit := f.allowed()
	switch {
	case !canceled(err):
		return say(err)
	case !f.reader.TookTooLong(err):
		return "somebody cancelled a reading, as pg_cancel_backend does"
	case theirs(limit):
		return "statement_timeout is " + limit + ", and a reading takes longer"
	}
	return "a reading takes longer than " + inWords(statementTimeout)
}

// reached puts into State how far a reading counted, and tells when that is not as far
// as before. Call it within change.
func (f *Feed) reached(r *reach) {
	f.draft.Depths.Cap, f.draft.Depths.Note = r.cap(), ""
	if r.down > 0 {
		f.draft.Depths.Note = "counting further takes longer than " + inWords(statementTimeout)
		if theirs(f.limit) {
			f.draft.Depths.Note = "statement_timeout is " + f.limit + ", and counting further takes longer"
		}
	}
	switch {
	case r.down > r.told:
		f.health(Polled, "no count goes further than "+thousands(r.cap())+": "+f.draft.Depths.Note)
	case r.down < r.told:
		f.health(Polled, "counts go to "+thousands(r.cap())+" again")
	}
	r.told = r.down
}
