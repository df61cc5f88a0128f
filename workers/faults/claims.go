package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
)

// Claimer claims one due job of a queue for an owner, and returns its id; ok is false
// when there is none. lease is how long it is the owner's.
type Claimer func(ctx context.Context, conn *pgx.Conn, schema *leasesql.Schema, queue, owner string, lease time.Duration) (id int64, ok bool, err error)

// Three ways to claim, as other people's workers do.
var (
	_ Claimer = Naive
	_ Claimer = Blocking
	_ Claimer = Skipping
)

// Naive looks for a job and then takes it, in two statements and without a lock: two
// workers that look at once get the same one, and neither ever hears of it.
func Naive(ctx context.Context, conn *pgx.Conn, schema *leasesql.Schema, queue, owner string, lease time.Duration) (id int64, ok bool, err error) {
	id, ok, err = claimed(conn.QueryRow(ctx, schema.Query("fault_naive_look"), queue))
	if err != nil || !ok {
		return 0, false, err
	}
	if _, err := conn.Exec(ctx, schema.Query("fault_naive_take"), id, owner, lease.Seconds()); err != nil {
		return 0, false, fmt.Errorf("claim: %w", err)
	}
	return id, true, nil
}

// Blocking locks with FOR UPDATE alone: no job is claimed twice, but all workers wait for
// the one that holds the first job, and then for the next.
func Blocking(ctx context.Context, conn *pgx.Conn, schema *leasesql.Schema, queue, owner string, lease time.Duration) (id int64, ok bool, err error) {
	return claimed(conn.QueryRow(ctx, schema.Query("fault_blocking_claim"), queue, owner, lease.Seconds()))
}

// Skipping locks with FOR UPDATE SKIP LOCKED: no job is claimed twice, and nobody waits.
func Skipping(ctx context.Context, conn *pgx.Conn, schema *leasesql.Schema, queue, owner string, lease time.Duration) (id int64, ok bool, err error) {
	return claimed(conn.QueryRow(ctx, schema.Query("fault_skipping_claim"), queue, owner, lease.Seconds()))
}

func claimed(row pgx.Row) (id int64, ok bool, err error) {
	switch err := row.Scan(&id); {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("claim: %w", err)
	}
	return id, true, nil
}

// Finish completes a job that a [Claimer] claimed. ok is false when it is not the
// owner's any more: after [Naive] it may have been taken over, or completed, by another.
func Finish(ctx context.Context, conn *pgx.Conn, schema *leasesql.Schema, id int64, owner string) (ok bool, err error) {
	tag, err := conn.Exec(ctx, schema.Query("fault_complete"), id, owner)
	if err != nil {
		return false, fmt.Errorf("complete job %d: %w", id, err)
	}
	return tag.RowsAffected() > 0, nil
}
