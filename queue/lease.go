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
	// Refused leases stand and were not renewed: the server refuses to change their rows.
	Refused []RefusedLease
}

// RefusedLease is a lease that the server refuses to renew, and its reason.
type RefusedLease struct {
	Lease
	*Refusal
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
// the caller's isolation level must be READ COMMITTED. When the server refuses to change
// some of the rows, the other leases are renewed within two more round trips; in a
// transaction of the caller's nothing is.
func (q *Queue) HeartbeatOn(ctx context.Context, on Executor, renewals []Renewal) (Beat, error) {
	var beat Beat
	if len(renewals) == 0 {
		return beat, nil
	}
	for _, r := range renewals {
		if r.For <= 0 {
			return beat, fmt.Errorf("heartbeat: lease of %v for job %d: it must be longer than zero", r.For, r.ID)
		}
	}
	conn, release, err := idle(ctx, on)
	if err != nil {
		return beat, q.failed("heartbeat", err)
	}
	defer release()
	p := pulse{q: q, on: on, conn: conn, renewed: make(map[Lease]bool, len(renewals))}
	if err := p.renew(ctx, renewals); err != nil {
		return beat, q.failed("heartbeat", err, "heartbeat")
	}
	if err := p.readRest(ctx, renewals); err != nil {
		return beat, q.failed("heartbeat", err, "lease_owners")
	}
	return p.beat, nil
}

// ProbeHeartbeat runs what a heartbeat runs, on a connection of the caller's choice, for no
// lease at all. It changes nothing, and fails where the server would refuse every heartbeat
// sent this way: the role lacks a right, the table is locked, the server takes no writes.
func (q *Queue) ProbeHeartbeat(ctx context.Context, on Executor) error {
	conn, release, err := idle(ctx, on)
	if err != nil {
		return q.failed("heartbeat", err)
	}
	defer release()
	if conn != nil { // the pool's one
		on = conn
	}
	p := pulse{q: q, on: on, conn: conn, renewed: map[Lease]bool{}}
	if err := p.renew(ctx, nil); err != nil {
		return q.failed("heartbeat", err, "heartbeat")
	}
	_, _, err = q.owners(ctx, on, nil)
	return q.failed("heartbeat", err, "lease_owners")
}

// idle returns a connection for transactions of one's own, or nil when on is a transaction of the caller's.
func idle(ctx context.Context, on Executor) (conn *pgx.Conn, release func(), err error) {
	release = func() {}
	switch on := on.(type) {
	case *pgxpool.Pool:
		pooled, err := on.Acquire(ctx)
		if err != nil {
			return nil, release, err
		}
		conn, release = pooled.Conn(), pooled.Release
	case *pgxpool.Conn:
		conn = on.Conn()
	case *pgx.Conn:
		conn = on
	}
	if conn != nil && conn.PgConn().TxStatus() != 'I' { // idle: in no transaction
		return nil, release, nil
	}
	return conn, release, nil
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
