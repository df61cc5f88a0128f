package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// errHeld tells that another program that lives has a hold.
var errHeld = errors.New("another dashboard has broken it, and heals it")

// hold is the sign of life of whoever broke something that stays in the database: an
// advisory lock, which a session of its own holds. Others sweep away or heal only what
// nobody has a hold of. The session may break, with the server or by itself: then the lock
// is taken again in another. Who sweeps meanwhile takes away what is made again, or heals
// what is healed twice.
type hold struct {
	name string
	end  context.CancelFunc
	over chan struct{} // closed when it is let go
}

const (
	holdTakes = 5 * time.Second        // at most, a try
	holdAgain = 250 * time.Millisecond // between two tries
)

// holdName is the name of a lock; those of advisory locks are the database's.
func holdName(q *queue.Queue, what string) string {
	return "leasetop fault " + q.Schema().Name() + " " + what
}

// takeHold takes a hold of something. The error is errHeld when another has it.
func takeHold(ctx context.Context, q *queue.Queue, what string) (*hold, error) {
	h := &hold{name: holdName(q, what), over: make(chan struct{})}
	conn, got, err := h.take(ctx, q)
	if err == nil && !got {
		closeSoon(conn)
		return nil, errHeld
	}
	if err != nil {
		return nil, fmt.Errorf("take the lock %q: %w", h.name, err)
	}
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	h.end = end
	go func() {
		defer close(h.over)
		h.keep(lasting, q, conn)
	}()
	return h, nil
}

// Pooled tells whether a pooler stands between, which hands a server's session, and its
// locks, from one client to the next: the server's process is another than the connection
// was told.
func Pooled(ctx context.Context, q *queue.Queue) (bool, error) {
	conn, err := q.Pool().Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	var pid int64
	err = conn.QueryRow(ctx, q.Schema().Query("backend")).Scan(&pid)
	return pid != int64(conn.Conn().PgConn().PID()), err
}

// take tries to take the lock, in a session of its own.
func (h *hold) take(ctx context.Context, q *queue.Queue) (conn *pgx.Conn, got bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, holdTakes)
	defer cancel()
	conn, _, err = q.Connect(ctx, func(c *pgx.ConnConfig) { c.RuntimeParams["application_name"] = "leasetop fault" })
	if err != nil {
		return nil, false, err
	}
	if got, err = tryLock(ctx, conn, q, h.name); err != nil {
		closeSoon(conn)
		return nil, false, err
	}
	return conn, got, nil
}

// keep has the lock until ctx ends.
func (h *hold) keep(ctx context.Context, q *queue.Queue, conn *pgx.Conn) {
	for {
		for err := error(nil); err == nil; { // that the session breaks is heard at once
			_, err = conn.WaitForNotification(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		closeSoon(conn)
		if conn = h.takeAgain(ctx, q); conn == nil {
			return
		}
	}
	// Before the session ends, which takes the server a moment: who breaks it next finds the lock free.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lettingGo)
	defer cancel()
	_ = unlock(ending, conn, q, h.name) // or the end of the session does it
	closeSoon(conn)
}

// takeAgain takes the lock as soon as it can be had; nil when ctx ended first.
func (h *hold) takeAgain(ctx context.Context, q *queue.Queue) *pgx.Conn {
	for ctx.Err() == nil {
		conn, got, err := h.take(ctx, q)
		if got {
			return conn
		}
		if err == nil {
			closeSoon(conn)
		}
		rest(ctx, holdAgain)
	}
	return nil
}

// letGo gives the lock back. To call it again does nothing.
func (h *hold) letGo() {
	h.end()
	<-h.over
}

// unheld does something with what nobody has a hold of, and has one of it meanwhile.
// Within a transaction, so that no pooler hands the lock on.
func unheld(ctx context.Context, q *queue.Queue, what string, do func(tx pgx.Tx) error) (free bool, err error) {
	tx, err := q.Pool().Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	row := tx.QueryRow(ctx, q.Schema().Query("life_lock_meanwhile"), holdName(q, what))
	if err := row.Scan(&free); err != nil || !free {
		return false, err
	}
	if err := do(tx); err != nil {
		return true, err
	}
	return true, tx.Commit(ctx)
}

func tryLock(ctx context.Context, conn *pgx.Conn, q *queue.Queue, name string) (got bool, err error) {
	err = conn.QueryRow(ctx, q.Schema().Query("life_lock"), name).Scan(&got)
	return got, err
}

func unlock(ctx context.Context, conn *pgx.Conn, q *queue.Queue, name string) error {
	_, err := conn.Exec(ctx, q.Schema().Query("life_unlock"), name)
	return err
}

// closeSoon closes a session, and does not wait long for a server that hangs.
func closeSoon(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), lettingGo)
	defer cancel()
	_ = conn.Close(ctx)
}
