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
// that do not skip what is locked.
func (q *Queue) CompleteMany(ctx context.Context, leases []Lease) (lost []Lease, err error) {
	return q.completeMany(ctx, "complete", leases)
}

// CompleteUnlocked is [Queue.CompleteMany] that waits for no row: a job that another
// transaction has locked just now is passed over, so that it holds up none of the
// others. It returns the leases passed over, which stand and may be completed one by
// one or later, and those that were gone.
func (q *Queue) CompleteUnlocked(ctx context.Context, leases []Lease) (locked, lost []Lease, err error) {
	rest, err := q.completeMany(ctx, "complete_unlocked", leases)
	if err != nil || len(rest) == 0 {
		return nil, nil, err
	}
	locked, gone, err := q.owners(ctx, q.pool, rest)
	if err != nil {
		return nil, nil, q.failed("complete", err, "lease_owners")
	}
	for _, l := range gone {
		lost = append(lost, l.Lease)
	}
	return locked, lost, nil
}

// completeMany returns the leases that the statement did not complete.
func (q *Queue) completeMany(ctx context.Context, statement string, leases []Lease) (rest []Lease, err error) {
	if len(leases) == 0 {
		return nil, nil
	}
	ids, owners := leaseColumns(slices.SortedFunc(slices.Values(leases), func(a, b Lease) int { return cmp.Compare(a.ID, b.ID) }))
	done := make(map[Lease]bool, len(leases))
	err = q.write(ctx, statement, []any{ids, owners}, func(row pgx.CollectableRow) error {
		var l Lease
		err := row.Scan(&l.ID, &l.Token)
		done[l] = true
		return err
	})
	if err != nil {
		return nil, q.failed("complete", err)
	}
	for _, l := range leases {
		if !done[l] {
			rest = append(rest, l)
		}
	}
	return rest, nil
}

// CompleteTx ends a claim with success in the caller's transaction, so that what
// the job did there and its completion are one commit. On any error, [ErrLeaseLost]
// above all, the caller must roll back: the job may be running elsewhere. The row is
// locked until the transaction ends, so call it last and commit at once.
func (q *Queue) CompleteTx(ctx context.Context, tx pgx.Tx, lease Lease) error {
	tag, err := tx.Exec(ctx, q.schema.Query("complete"), []int64{lease.ID}, []string{lease.Token})
	if err != nil {
		return q.failed(fmt.Sprintf("complete job %d", lease.ID), err, "complete")
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("complete job %d: %w", lease.ID, ErrLeaseLost)
	}
	return nil
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
	if pg := (*pgconn.PgError)(nil); hasty && errors.As(err, &pg) && pg.Code == "55P03" { // lock_not_available
		err = ErrLocked
	}
	if err != nil {
		return q.failed(fmt.Sprintf("%s job %d", statement, lease.ID), err)
	}
	if !ended {
		return fmt.Errorf("%s job %d: %w", statement, lease.ID, ErrLeaseLost)
	}
	return nil
}

func leaseColumns(leases []Lease) (ids []int64, owners []string) {
	ids, owners = make([]int64, len(leases)), make([]string, len(leases))
	for i, l := range leases {
		ids[i], owners[i] = l.ID, l.Token
	}
	return ids, owners
}
