package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxOwner is what migration 00021_bounds.sql lets locked_by have.
const maxOwner = 8192

// ClaimRequest asks for work. All fields are required.
type ClaimRequest struct {
	Queue string
	Owner string        // a token that no other claim ever uses; see Token
	Lease time.Duration // how long the jobs are the owner's without a heartbeat; more than zero
	Limit int           // at most so many jobs; more than zero
	// Refused is told of each job that the server refused to change, which is passed over
	// for a while; see [Refusal]. It must not call the queue. nil for nobody.
	Refused func(*Refusal)
}

// Claim takes due jobs of one queue, the longest due first, in one statement and
// one round trip, and returns them with their payloads in that order, but without
// their histories; none when nothing is due or the queue is paused. Each counts as an
// attempt from here on. It is a short transaction: no lock is held while the jobs are
// worked on. Any number of workers may claim at once; none waits for another.
//
// A job whose row the server refuses to change, because of a constraint or a trigger, say,
// is passed over by this process for a second, then for twice as long each time up to five
// minutes, until it is changed; the others are claimed. When ctx ends in the middle of a
// claim, the next ones of the queue take jobs apart for a minute: one whose trigger takes
// longer than two seconds is passed over too.
//
// A job whose CancelledBy is not empty was cancelled under an earlier claim, and is to
// be ended, not run: [Queue.Retry] makes it dead.
func (q *Queue) Claim(ctx context.Context, r ClaimRequest) ([]Job, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("claim from %q: %w", r.Queue, err)
	}
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return nil, q.failed(fmt.Sprintf("claim from %q", r.Queue), err)
	}
	defer conn.Release()
	pass, err := q.leaveOut(ctx, conn, &q.passedClaims, r.Queue)
	if err != nil {
		return nil, q.failed(fmt.Sprintf("claim from %q", r.Queue), err)
	}
	mark := q.marks.of(r.Queue)
	look := mark.begin()
	began := time.Now()
	var jobs []Job
	apart := q.passedClaims.singly(r.Queue)
	if !apart {
		err = slow(q.writeOn(ctx, conn.Conn(), "claim", []any{r.Queue, r.Owner, r.Lease.Seconds(), r.Limit, look.from.runAt.pg(), look.from.id, pass},
			func(row pgx.CollectableRow) error {
				jobs = append(jobs, Job{})
				return scanClaimed(row, &jobs[len(jobs)-1])
			}))
		if errors.Is(err, context.DeadlineExceeded) {
			q.passedClaims.late(r.Queue, 0)
		}
	}
	if apart || refusesRow(err) != nil || err == nil && len(jobs) == 0 && look.full && mark.doubt() {
		jobs, err = q.claimApart(ctx, conn, &r)
	}
	if err != nil {
		mark.end(look, nil, time.Since(began))
		return nil, q.failed(fmt.Sprintf("claim from %q", r.Queue), err)
	}
	// RETURNING has no order.
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(compareTimes(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	mark.end(look, jobs, time.Since(began))
	return jobs, nil
}

// scanClaimed reads a job as a claim returns it, behind other columns.
func scanClaimed(row pgx.CollectableRow, j *Job, before ...any) error {
	return row.Scan(append(before, &j.ID, &j.Queue, &j.Kind, (*[]byte)(&j.Payload), &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
		&j.LockedAt, &j.LockedBy, &j.LeaseExpiresAt, &j.LastError, &j.IdempotencyKey, at(&j.CreatedAt), &j.UpdatedAt, &j.CancelledBy)...)
}

func (r *ClaimRequest) check() error {
	if err := CheckName("queue", r.Queue); err != nil {
		return err
	}
	switch {
	case r.Owner == "":
		return errors.New("the claim has no owner")
	case len(r.Owner) > maxOwner:
		return fmt.Errorf("the owner of the claim has %d bytes: the table takes %d", len(r.Owner), maxOwner)
	case r.Lease <= 0:
		return fmt.Errorf("a lease of %v: it must be longer than zero", r.Lease)
	case r.Limit <= 0:
		return fmt.Errorf("a limit of %d: it must be at least 1", r.Limit)
	}
	return nil
}

// NextDue tells how long it is until the earliest pending job of the queues is due, by
// the database's clock. Zero or less: one is due already. ok is false when none is
// waiting; queues that are paused count as empty, and so do jobs that claims pass over.
func (q *Queue) NextDue(ctx context.Context, queues []string) (in time.Duration, ok bool, err error) {
	pass, woken := q.passedClaims.ids("")
	q.Forget(woken...)
	in, ok, err = q.seconds(ctx, "next due", "next_due", queues, pass)
	if ok && in <= 0 {
		q.suspect(queues)
	}
	return in, ok, err
}

// seconds reads one nullable number of seconds.
func (q *Queue) seconds(ctx context.Context, operation, statement string, args ...any) (time.Duration, bool, error) {
	var s *float64
	if err := q.pool.QueryRow(ctx, q.schema.Query(statement), args...).Scan(&s); err != nil {
		return 0, false, q.failed(operation, err, statement)
	}
	if s == nil {
		return 0, false, nil
	}
	return duration(*s), true, nil
}

// duration converts seconds, staying within what a Duration can hold.
func duration(seconds float64) time.Duration {
	const most = float64(1<<63 - 1)
	ns := seconds * float64(time.Second)
	return time.Duration(min(max(ns, -most/2), most/2))
}

func compareTimes(a, b Time) int {
	return cmp.Or(cmp.Compare(a.Infinity, b.Infinity), a.Time.Compare(b.Time))
}
