package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// witnessLook is how often it is looked who holds a lock that a statement waits for.
const witnessLook = 50 * time.Millisecond

// witness finds out who holds up a transaction while it waits: see last_patience.sql.
type witness struct {
	mu  sync.Mutex
	saw string // in words; "" nobody was seen
}

type witnessKey struct{}

// witnessed is a context whose patient transactions wait long enough for the witness to see
// who holds them up.
func witnessed(ctx context.Context) (context.Context, *witness) {
	w := &witness{}
	return context.WithValue(ctx, witnessKey{}, w), w
}

// witnessTries is how often that is tried: on a busy machine a look may take longer than
// the statement waits.
const witnessTries = 3

// beforeWitness runs do, which tells whether it met a lock, until a witness saw who holds it
// up. saw is "" when it met none, or nobody was seen.
func beforeWitness(ctx context.Context, do func(context.Context) (held bool, err error)) (saw string, held bool, err error) {
	for range witnessTries {
		last, w := witnessed(ctx)
		held, err = do(last)
		if saw = w.said(); err != nil || !held || saw != "" {
			return saw, held, err
		}
	}
	return "", true, nil
}

func (w *witness) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.saw
}

// watch looks who holds up a session until it has seen somebody or is stopped.
func (w *witness) watch(ctx context.Context, q *Queue, pid uint32) (stop func()) {
	stopped, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		look := time.NewTicker(witnessLook)
		defer look.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-look.C:
			}
			acquiring, cancel := context.WithTimeout(ctx, lockPatience)
			go func() {
				select {
				case <-stopped:
					cancel()
				case <-acquiring.Done():
				}
			}()
			conn, err := q.pool.Acquire(acquiring)
			cancel()
			if err != nil {
				return
			}
			saw := q.blocked(ctx, conn.Conn(), []int32{int32(pid)})
			conn.Release()
			if saw != "" {
				w.mu.Lock()
				w.saw = saw
				w.mu.Unlock()
				return
			}
		}
	}()
	return func() { close(stopped); <-over }
}

// patientTx is a transaction whose statements hardly wait for locks, as those of
// writePatiently.
func (q *Queue) patientTx(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		statement, watch := "act_patience", func() func() { return func() {} }
		if w, ok := ctx.Value(witnessKey{}).(*witness); ok {
			statement, watch = "last_patience", func() func() { return w.watch(ctx, q, tx.Conn().PgConn().PID()) }
		}
		if _, err := tx.Exec(ctx, q.schema.Query(statement)); err != nil {
			return err
		}
		defer watch()()
		return do(tx)
	})
}

// blocked says in words who holds up one of some sessions; "" when nobody does, or that
// cannot be told.
func (q *Queue) blocked(ctx context.Context, conn *pgx.Conn, pids []int32) string {
	var kind, table string
	var held bool
	var h holder
	err := conn.QueryRow(context.WithValue(ctx, asideKey{}, true), q.schema.Query("blocked"), pids).
		Scan(&kind, &table, &held, &h.pid, &h.prepared, &h.app, &h.who, &h.since)
	switch {
	case err != nil:
		return ""
	case kind == "relation":
		return tableOf(table, held, &h)
	case table == "":
		return fmt.Sprintf("a row or a key is locked by %s", &h)
	}
	return fmt.Sprintf("a row of the table %s is locked by %s", table, &h)
}

// tableOf says in words who has a table locked, or waits to.
func tableOf(table string, held bool, h *holder) string {
	if held {
		return fmt.Sprintf("the table %s is locked by %s", table, h)
	}
	return fmt.Sprintf("%s wants the table %s for itself, and everybody waits behind it", h, table)
}

// Blocked says in words who holds up a statement of this pool that waits for a lock on a
// table, a row or a key: "the table jobs is locked by pid 123 (psql, app, 3 min)". It is ""
// when none waits for one, or when nothing tracks the statements because the pool is the
// caller's. It asks over another connection.
func (q *Queue) Blocked(ctx context.Context) string {
	if q.clocked == nil {
		return ""
	}
	pids := q.clocked.pids()
	if len(pids) == 0 {
		return ""
	}
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return ""
	}
	defer conn.Release()
	return q.blocked(ctx, conn.Conn(), pids)
}
