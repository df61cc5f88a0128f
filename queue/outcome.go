package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrLocked says that another transaction has the job's row locked: nothing was
// written, and the claim stands. Only outcomes of a context of [Hasty] return it.
var ErrLocked = errors.New("locked by another transaction")

type hastyKey struct{}

// Hasty returns a context with which [Queue.Retry], [Queue.Bury], [Queue.Release] and
// [Queue.Snooze] hardly wait for a row that another transaction has locked, and return
// [ErrLocked], so that they do not keep a connection from the outcomes of other jobs.
func Hasty(ctx context.Context) context.Context { return context.WithValue(ctx, hastyKey{}, true) }

// Complete ends a claim with success. [ErrLeaseLost]: the claim was gone.
func (q *Queue) Complete(ctx context.Context, lease Lease) error {
	lost, err := q.CompleteMany(ctx, []Lease{lease})
	if err != nil {
		return fmt.Errorf("job %d: %w", lease.ID, err)
	}
	if len(lost) > 0 {
		return fmt.Errorf("complete job %d: %w", lease.ID, ErrLeaseLost)
	}
	return nil
}

// CompleteMany ends many claims with success in one statement and returns those
// that were gone already. It locks in id order, as all writers of many rows do
// that do not skip what is locked. When the server refuses to change some of the rows, the
// others are completed, and the error joins a [Refusal] for each of those.
func (q *Queue) CompleteMany(ctx context.Context, leases []Lease) (lost []Lease, err error) {
	rest, refusals, err := q.completeMany(ctx, "complete", leases)
	if err != nil || len(rest) == 0 {
		return nil, cmp.Or(err, q.noted(leases, refusals))
	}
	stand, gone, err := q.owners(ctx, q.pool, rest)
	if err != nil {
		return nil, q.failed("complete", err, "lease_owners")
	}
	for _, l := range stand { // the statement would have waited for a lock
		refusals = append(refusals, leftAlone(l.ID, "complete"))
	}
	return leasesOf(gone), q.noted(leases, refusals)
}

// noted writes refusals of leased jobs where dashboards find them, and returns them as one error.
func (q *Queue) noted(leases []Lease, refusals []*Refusal) error {
	q.noteLeased(leases, refusals)
	return joined(refusals)
}

// CompleteUnlocked is [Queue.CompleteMany] that waits for no row: a job that another
// transaction has locked just now is passed over, so that it holds up none of the
// others. It returns the leases passed over, which stand and may be completed one by
// one or later, and those that were gone. The error is as that of [Queue.CompleteMany]:
// with a [Refusal] in it, the leases returned are valid all the same.
func (q *Queue) CompleteUnlocked(ctx context.Context, leases []Lease) (locked, lost []Lease, err error) {
	rest, refusals, err := q.completeMany(ctx, "complete_unlocked", leases)
	if err != nil || len(rest) == 0 {
		return nil, nil, cmp.Or(err, q.noted(leases, refusals))
	}
	locked, gone, err := q.owners(ctx, q.pool, rest)
	if err == nil && len(locked) > 0 {
		locked, refusals, err = q.completeHeld(ctx, locked, refusals)
	}
	if err != nil {
		return nil, nil, q.failed("complete", err, "lease_owners")
	}
	return locked, leasesOf(gone), q.noted(leases, refusals)
}

// completeHeld completes leases that a statement passed over though they stand. Those that
// can be locked, and are not changed even then, a trigger leaves as they are.
func (q *Queue) completeHeld(ctx context.Context, leases []Lease, refusals []*Refusal) (locked []Lease, all []*Refusal, err error) {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Release()
	ids, owners := leaseColumns(leases)
	done := map[Lease]bool{}
	held, err := q.whileHeld(ctx, conn.Conn(), ids, owners, make([]float64, len(ids)), "complete_unlocked", []any{ids, owners}, func(row pgx.CollectableRow) error {
		var l Lease
		err := row.Scan(&l.ID, &l.Token)
		done[l] = true
		return err
	})
	if refusesRow(err) != nil { // one of them was locked before, and is refused now: the next try tells which
		return leases, refusals, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, l := range leases {
		switch {
		case done[l]:
		case held[l]:
			refusals = append(refusals, leftAlone(l.ID, "complete"))
		default:
			locked = append(locked, l)
		}
	}
	return locked, refusals, nil
}

func leasesOf(gone []LostLease) (leases []Lease) {
	for _, l := range gone {
		leases = append(leases, l.Lease)
	}
	return leases
}

// completeMany returns the leases that the statement did not complete, and what the server
// refused to change.
func (q *Queue) completeMany(ctx context.Context, statement string, leases []Lease) (rest []Lease, refusals []*Refusal, err error) {
	if len(leases) == 0 {
		return nil, nil, nil
	}
	sorted := slices.SortedFunc(slices.Values(leases), func(a, b Lease) int { return cmp.Compare(a.ID, b.ID) })
	err = sift(sorted, func(some []Lease) error {
		ids, owners := leaseColumns(some)
		done := make(map[Lease]bool, len(some))
		err := q.write(ctx, statement, []any{ids, owners}, func(row pgx.CollectableRow) error {
			var l Lease
			err := row.Scan(&l.ID, &l.Token)
			done[l] = true
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range some {
			if !done[l] {
				rest = append(rest, l)
			}
		}
		return nil
	}, func(l Lease, err error) {
		if refusal, ok := refusalOf(l.ID, "complete", err); ok {
			refusals = append(refusals, refusal)
		}
	})
	return rest, refusals, q.failed("complete", err)
}

// CompleteTx ends a claim with success in the caller's transaction, so that what
// the job did there and its completion are one commit. On any error, [ErrLeaseLost]
// above all, the caller must roll back: the job may be running elsewhere. The row is
// locked until the transaction ends, so call it last and commit at once.
func (q *Queue) CompleteTx(ctx context.Context, tx pgx.Tx, lease Lease) error {
	tag, err := tx.Exec(ctx, q.schema.Query("complete"), []int64{lease.ID}, []string{lease.Token})
	if refusal, ok := refusalOf(lease.ID, "complete", err); ok {
		return refusal
	}
	if err != nil {
		return q.failed(fmt.Sprintf("complete job %d", lease.ID), err, "complete")
	}
	if tag.RowsAffected() != 1 {
		return q.notEnded(ctx, tx, "complete", lease)
	}
	return nil
}

// notEnded is why a statement that waits for locks did not change the row of a lease: it is
// lost or, when it stands, a trigger left the row as it was.
func (q *Queue) notEnded(ctx context.Context, on Executor, act string, lease Lease) error {
	stand, _, err := q.owners(ctx, on, []Lease{lease})
	if err == nil && len(stand) > 0 {
		return leftAlone(lease.ID, act)
	}
	return fmt.Errorf("%s job %d: %w", act, lease.ID, ErrLeaseLost)
}

// Retry ends a claim with a retryable error: pending again after delay (negative is
// zero) by the database's clock or, when the attempts are used up, failed; dead when
// somebody cancelled the job. It returns which. The text is made storable and bounded
// first: see [ErrorTextLimit]. [ErrLeaseLost]: the claim was gone.
func (q *Queue) Retry(ctx context.Context, lease Lease, text string, delay time.Duration) (Status, error) {
	var status Status
	err := q.end(ctx, "retry", lease, []any{&status}, errorText(text), max(delay, 0).Seconds())
	return status, err
}

// Bury ends a claim as poison: dead at once, whatever attempts are left. The text is
// treated as that of [Queue.Retry]; when somebody cancelled the job, last_error says so
// and the history alone keeps the text. [ErrLeaseLost]: the claim was gone.
func (q *Queue) Bury(ctx context.Context, lease Lease, text string) error {
	var id int64
	return q.end(ctx, "bury", lease, []any{&id}, errorText(text))
}

// Release gives a claim back unused, for a worker that drains: pending in its old
// place, the attempt returned; dead when somebody cancelled the job. It returns which.
// [ErrLeaseLost]: the claim was gone.
func (q *Queue) Release(ctx context.Context, lease Lease) (Status, error) {
	var status Status
	var queue string
	if err := q.end(ctx, "release", lease, []any{&status, &queue}, 0.0); err != nil {
		return "", err
	}
	q.Forget(queue) // it keeps its run_at: it stands before the mark
	return status, nil
}

// Snooze gives a claim back until later, the attempt returned; dead when somebody
// cancelled the job. It returns which. [ErrLeaseLost]: the claim was gone.
func (q *Queue) Snooze(ctx context.Context, lease Lease, delay time.Duration) (Status, error) {
	var status Status
	err := q.end(ctx, "release", lease, []any{&status, nil}, max(delay, 0).Seconds())
	return status, err
}

// end runs an outcome of one claim, whose statement returns one row of values.
func (q *Queue) end(ctx context.Context, statement string, lease Lease, values []any, args ...any) error {
	var before []string
	hasty := ctx.Value(hastyKey{}) != nil
	if hasty {
		before = []string{"hasty"}
	}
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return q.failed(fmt.Sprintf("%s job %d", statement, lease.ID), err)
	}
	defer conn.Release()
	ended := false
	err = q.transaction(ctx, conn.Conn(), before, statement, append([]any{lease.ID, lease.Token}, args...), func(row pgx.CollectableRow) error {
		ended = true
		return row.Scan(values...)
	})
	if pg := (*pgconn.PgError)(nil); hasty && errors.As(err, &pg) && !raised(pg) && pg.Code == "55P03" { // lock_not_available
		err = ErrLocked
	}
	refusal, refused := refusalOf(lease.ID, statement, err)
	switch {
	case refused:
		err = refusal
	case err != nil:
		return q.failed(fmt.Sprintf("%s job %d", statement, lease.ID), err)
	case !ended:
		err = q.notEnded(ctx, conn, statement, lease)
	}
	q.noteLeased([]Lease{lease}, Refusals(err))
	return err
}

func leaseColumns(leases []Lease) (ids []int64, owners []string) {
	ids, owners = make([]int64, len(leases)), make([]string, len(leases))
	for i, l := range leases {
		ids[i], owners[i] = l.ID, l.Token
	}
	return ids, owners
}
