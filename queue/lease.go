package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Renewal asks for a lease to be renewed for so long from the database's now.
type Renewal struct {
	Lease
	For time.Duration // more than zero
	// Left is how much must be left of the lease as it stands; 0 for any, and for one
	// that ran out and nobody took. A worker that stops a handler when a margin is left
	// gives that margin: what a network holds up until then renews nothing.
	Left time.Duration
}

// Beat is what a heartbeat found.
type Beat struct {
	Renewed []Lease // from now on for as long as was asked
	// Contended leases stand, but their rows were locked by another transaction just
	// now, or they had less left than Renewal.Left: they keep the deadline they had.
	Contended []Lease
	Lost      []LostLease    // stop working on these
	Cancelled []Cancellation // renewed too, but to be ended
}

// Cancellation is a claim whose job somebody wants cancelled; see [Queue.Cancel].
type Cancellation struct {
	Lease
	By string // who
}

// LostLease is a lease that is gone, and what the job is now.
type LostLease struct {
	Lease
	Status Status // "" when the job does not exist any more
	Owner  string // who has it now; "" when nobody
}

// Executor runs statements: a pool, a connection or a transaction of pgx.
type Executor interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Heartbeat renews leases in one statement on the pool; see [Queue.HeartbeatOn].
func (q *Queue) Heartbeat(ctx context.Context, renewals []Renewal) (Beat, error) {
	if len(renewals) == 0 {
		return Beat{}, nil
	}
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return Beat{}, q.failed("heartbeat", err)
	}
	defer conn.Release()
	return q.HeartbeatOn(ctx, conn, renewals)
}

// HeartbeatOn renews leases in one statement on a connection of the caller's
// choice, since heartbeats must not wait behind busy workers for a pooled one.
// Of those not renewed it reads who owns them now. An error says nothing about
// any lease. In a transaction of the caller's it renews when that commits, and
// the caller's isolation level must be READ COMMITTED.
func (q *Queue) HeartbeatOn(ctx context.Context, on Executor, renewals []Renewal) (Beat, error) {
	var beat Beat
	if len(renewals) == 0 {
		return beat, nil
	}
	ids, owners := make([]int64, len(renewals)), make([]string, len(renewals))
	seconds, left := make([]float64, len(renewals)), make([]float64, len(renewals))
	for i, r := range renewals {
		if r.For <= 0 {
			return beat, fmt.Errorf("heartbeat: lease of %v for job %d: it must be longer than zero", r.For, r.ID)
		}
		ids[i], owners[i], seconds[i], left[i] = r.ID, r.Token, r.For.Seconds(), max(r.Left, 0).Seconds()
	}
	renewed := make(map[Lease]bool, len(renewals))
	if err := q.beat(ctx, on, []any{ids, owners, seconds, left}, func(row pgx.CollectableRow) error {
		var c Cancellation
		err := row.Scan(&c.ID, &c.Token, &c.By)
		renewed[c.Lease] = true
		if c.By != "" {
			beat.Cancelled = append(beat.Cancelled, c)
		}
		return err
	}); err != nil {
		return beat, q.failed("heartbeat", err, "heartbeat")
	}
	var rest []Lease
	for _, r := range renewals {
		if renewed[r.Lease] {
			beat.Renewed = append(beat.Renewed, r.Lease)
		} else {
			rest = append(rest, r.Lease)
		}
	}
	if len(rest) == 0 {
		return beat, nil
	}
	var err error
	beat.Contended, beat.Lost, err = q.owners(ctx, on, rest)
	return beat, q.failed("heartbeat", err, "lease_owners")
}

// ProbeHeartbeat runs what a heartbeat runs, on a connection of the caller's choice, for no
// lease at all. It changes nothing, and fails where the server would refuse every heartbeat
// sent this way: the role lacks a right, the table is locked, the server takes no writes.
func (q *Queue) ProbeHeartbeat(ctx context.Context, on Executor) error {
	none := []any{[]int64{}, []string{}, []float64{}, []float64{}}
	if err := q.beat(ctx, on, none, func(pgx.CollectableRow) error { return nil }); err != nil {
		return q.failed("heartbeat", err, "heartbeat")
	}
	_, _, err := q.owners(ctx, on, nil)
	return q.failed("heartbeat", err, "lease_owners")
}

// beat runs the heartbeat in a transaction of its own, or in the caller's.
func (q *Queue) beat(ctx context.Context, on Executor, args []any, each func(pgx.CollectableRow) error) error {
	var conn *pgx.Conn
	switch on := on.(type) {
	case *pgxpool.Pool:
		pooled, err := on.Acquire(ctx)
		if err != nil {
			return err
		}
		defer pooled.Release()
		conn = pooled.Conn()
	case *pgxpool.Conn:
		conn = on.Conn()
	case *pgx.Conn:
		conn = on
	}
	if conn != nil && conn.PgConn().TxStatus() == 'I' { // idle: in no transaction
		return q.writeOn(ctx, conn, "heartbeat", args, each)
	}
	rows, err := on.Query(ctx, q.schema.Query("heartbeat"), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// owners tells the leases that stand from those that are gone.
func (q *Queue) owners(ctx context.Context, on Executor, leases []Lease) (stand []Lease, gone []LostLease, err error) {
	ids, owners := leaseColumns(leases)
	rows, err := on.Query(ctx, q.schema.Query("lease_owners"), ids, owners)
	if err != nil {
		return nil, nil, err
	}
	type owned struct {
		LostLease
		same bool
	}
	found := make([]owned, len(leases))
	var place int64
	var now owned
	if _, err := pgx.ForEachRow(rows, []any{&place, &now.Status, &now.Owner, &now.same}, func() error {
		found[place-1] = now
		return nil
	}); err != nil {
		return nil, nil, err
	}
	for i, l := range leases {
		now := found[i].LostLease
		if now.Status == Processing && found[i].same {
			stand = append(stand, l)
			continue
		}
		now.Lease = l
		gone = append(gone, now)
	}
	return stand, gone, nil
}
