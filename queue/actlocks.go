package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// lockPatience is how long an act waits, all in all, for rows that others have locked.
	lockPatience = 3 * time.Second
	// lockPause is how long it waits between two tries. A statement itself waits as long
	// for a lock: see act_patience.sql.
	lockPause = 50 * time.Millisecond
)

// patience is how much longer an act may wait for locks. All statements of one entry of
// the operator log share it.
type patience struct{ left atomic.Int64 }

func newPatience() *patience {
	p := &patience{}
	p.left.Store(int64(lockPatience))
	return p
}

// patienceOf is the patience of the entry of the operator log that ctx belongs to.
func patienceOf(ctx context.Context) *patience {
	if e, ok := ctx.Value(entryKey{}).(*entry); ok {
		return e.patience
	}
	return newPatience()
}

// spend takes the time off that a statement has waited.
func (p *patience) spend(d time.Duration) { p.left.Add(-int64(d)) }

// wait waits between two tries, and reports whether there is to be another.
func (p *patience) wait(ctx context.Context) bool {
	if p.left.Load() <= 0 {
		return false
	}
	p.spend(lockPause)
	select {
	case <-time.After(lockPause):
		return true
	case <-ctx.Done():
		return false
	}
}

// locked tells whether a statement failed since it would have waited for a lock.
func locked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && !raised(pg) && (pg.Code == "55P03" || pg.Code == "40P01") // lock_not_available, deadlock_detected
}

// lockedError says who has something locked.
type lockedError struct {
	text string
	id   int64 // the job; 0 when it is none, but a table
}

func (e *lockedError) Error() string        { return e.text }
func (e *lockedError) Is(target error) bool { return target == ErrLocked }

// writePatiently is write for a statement that hardly waits for locks: it fails with
// 55P03 instead. So a process that is killed meanwhile changes nothing later.
func (q *Queue) writePatiently(ctx context.Context, statement string, args []any, each func(pgx.CollectableRow) error) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return q.patientTransaction(ctx, conn.Conn(), "act_patience", statement, args, each)
}

// patientTransaction is a transaction whose statement waits for locks no longer than patience, a
// statement, has it. To prepare a statement takes locks too, so the transaction begins before.
func (q *Queue) patientTransaction(ctx context.Context, conn *pgx.Conn, patience, statement string, args []any, each func(pgx.CollectableRow) error) error {
	w, last := ctx.Value(witnessKey{}).(*witness)
	if last {
		patience = "last_patience"
	}
	if _, err := conn.Exec(ctx, "begin isolation level read committed; "+q.schema.Query(patience), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	if last {
		defer w.watch(ctx, q, conn.PgConn().PID())()
	}
	return q.committed(ctx, conn, nil, statement, args, each)
}

// patiently runs do, which hardly waits for locks, again until it meets none or patience
// is at its end. Then it runs do once more, which waits long enough for a witness to see who
// holds it up, unless that is known. The error names that session, and id is the job that do
// is about, 0 none.
func (q *Queue) patiently(ctx context.Context, id int64, do func(context.Context) error) error {
	for p := patienceOf(ctx); ; {
		began := time.Now()
		err := finishing(ctx, do)
		if !locked(err) {
			return err
		}
		if p.spend(time.Since(began)); p.wait(ctx) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if id != 0 {
			if err := q.holding(ctx, id); err != nil {
				return err
			}
		}
		saw, held, err := beforeWitness(ctx, func(ctx context.Context) (bool, error) {
			if err := finishing(ctx, do); !locked(err) {
				return false, err
			}
			return true, nil
		})
		if !held {
			return err
		}
		switch {
		case saw == "":
			return &lockedError{nobodyKnown + whenEnded, id}
		case id != 0:
			return &lockedError{saw, id}
		default:
			return &lockedError{saw + whenEnded, 0}
		}
	}
}

// holding names who has a job, or a table, locked; nil when that cannot be told.
func (q *Queue) holding(ctx context.Context, id int64) error {
	ctx, cancel := lasting(ctx)
	defer cancel()
	if table := q.tableHeld(ctx); table != nil {
		return table
	}
	if text := q.whoLocks(ctx, "lockers", id); text != nobodyKnown {
		return &lockedError{text, id}
	}
	return nil
}

// held puts aside those of the jobs that are locked, and acts on the others.
func (a *acting) held(ctx context.Context, ids []int64) error {
	a.patience.spend(lockPause)
	if table := a.q.tableHeld(ctx); table != nil {
		if a.patience.wait(ctx) {
			return a.batch(ctx, ids)
		}
		return errors.Join(ctx.Err(), table)
	}
	who, err := a.q.lockersOf(ctx, a.lockers, ids)
	if err != nil && !locked(err) {
		return err
	}
	free := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return who[id] != "" })
	switch {
	case len(who) > 0:
		for _, id := range ids {
			if who[id] != "" {
				a.waiting = append(a.waiting, id)
			}
		}
		return a.batch(ctx, free)
	case len(ids) == 1:
		a.waiting = append(a.waiting, ids...)
		return nil
	}
	return siftHalves(ids, func(some []int64) error { return a.once(ctx, some) }, a.refused)
}

// outwait tries again those that were locked, until none is or patience is at its end.
func (a *acting) outwait(ctx context.Context) error {
	for len(a.waiting) > 0 {
		ids := a.waiting
		last := !a.patience.wait(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		who, err := a.q.lockersOf(ctx, a.lockers, ids)
		if err != nil && !locked(err) {
			return err
		}
		a.waiting = nil
		var free []int64
		for _, id := range ids {
			switch {
			case who[id] == "":
				free = append(free, id)
			case last:
				a.skip(Skip{ID: id, Reason: "locked by " + who[id], Failed: true})
			default:
				a.waiting = append(a.waiting, id)
			}
		}
		if err := a.batch(ctx, free); err != nil {
			return err
		}
		for last && len(a.waiting) > 0 {
			id := a.waiting[0]
			a.waiting = a.waiting[1:]
			if err := a.lastly(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastWitnessed is for how many jobs of an act a witness is called: each takes half a second.
const lastWitnessed = 3

// lastly skips a job that is locked still, with the name of who has it locked. Where the
// job's row does not tell, as with a key, it is tried once more before a witness.
func (a *acting) lastly(ctx context.Context, id int64) error {
	reason := a.q.whoLocks(ctx, a.lockers, id)
	if reason == nobodyKnown && a.witnessed < lastWitnessed {
		a.witnessed++
		others := a.waiting
		saw, held, err := beforeWitness(ctx, func(ctx context.Context) (bool, error) {
			a.waiting = nil
			err := a.batch(ctx, []int64{id})
			return len(a.waiting) > 0, err
		})
		a.waiting = others
		if err != nil || !held {
			return err
		}
		reason = cmp.Or(saw, reason)
	}
	a.skip(Skip{ID: id, Reason: reason, Failed: true})
	return nil
}
