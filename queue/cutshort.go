package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgreSQL reports one SQLSTATE, query_canceled, for a statement that ran into
// statement_timeout and for one that somebody cancelled with pg_cancel_backend. Only its
// text differs, and that is in the server's language. So the two are told apart by how long
// the statement ran and how long it may.

// queryCanceled is that SQLSTATE.
const queryCanceled = "57014"

// cutShortAsk bounds the question how long a statement may take.
const cutShortAsk = 500 * time.Millisecond

// cutShort is a statement that the server ended.
type cutShort struct {
	limit, took time.Duration // took is 0 when it was not measured
	asked       bool          // limit is known
	cause       error
}

// byTimeout reports whether statement_timeout may have ended it.
func (e *cutShort) byTimeout() bool {
	return !e.asked || e.limit > 0 && (e.took == 0 || e.took >= e.limit)
}

// certain reports whether nothing else can have ended it.
func (e *cutShort) certain() bool { return e.asked && e.took > 0 }

func (e *cutShort) Error() string {
	const raise = "raise that, as by ALTER ROLE … SET statement_timeout = '1min', or by options=-cstatement_timeout=1min in the URL"
	switch {
	case !e.byTimeout():
		after := ""
		if e.took > 0 {
			after = " after " + e.took.Round(time.Millisecond).String()
		}
		return fmt.Sprintf("somebody cancelled the statement%s, as pg_cancel_backend does: run it again: %v", after, e.cause)
	case e.certain():
		return fmt.Sprintf("it takes longer than this role's statement_timeout of %v: %s: %v", e.limit, raise, e.cause)
	}
	limit := "this role's statement_timeout"
	if e.asked {
		limit += " of " + e.limit.String()
	}
	return fmt.Sprintf("it was cancelled with pg_cancel_backend, or takes longer than %s: %s: %v", limit, raise, e.cause)
}
func (e *cutShort) Is(target error) bool { return target == ErrStatementTimeout && e.byTimeout() }
func (e *cutShort) Unwrap() error        { return e.cause }

// cut finds out what ended a statement. It returns nil for other errors.
func (q *Queue) cut(err error) *cutShort {
	if known := (*cutShort)(nil); errors.As(err, &known) {
		return known
	}
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) || pg.Code != queryCanceled {
		return nil
	}
	e := &cutShort{cause: err, took: q.clocked.of(pg)}
	ctx, cancel := context.WithTimeout(context.Background(), cutShortAsk)
	defer cancel()
	var ms int64
	if q.pool.QueryRow(ctx, q.schema.Query("statement_timeout")).Scan(&ms) == nil {
		e.limit, e.asked = time.Duration(ms)*time.Millisecond, true
	}
	return e
}

// TookTooLong reports whether the server ended a statement because it ran longer than
// statement_timeout, or may have: a pool of the caller's does not measure how long one ran.
func (q *Queue) TookTooLong(err error) bool {
	e := q.cut(err)
	return e != nil && e.byTimeout()
}

// clocked measures each statement of a pool, and remembers of the last few that the server
// ended how long they ran.
type clocked struct {
	mu    sync.Mutex
	ended [16]struct {
		err  *pgconn.PgError
		took time.Duration
	}
	next int

	// flying counts the statements that wait for an answer, and heard is when one of them
	// last began, where none did, or was answered.
	flying atomic.Int32
	heard  atomic.Int64
	// sessions are the process ids of their sessions; mu guards it.
	sessions map[int32]int
}

// began notes that a statement was sent.
func (c *clocked) began(ctx context.Context, conn *pgx.Conn) context.Context {
	if ctx.Value(asideKey{}) != nil {
		return ctx
	}
	c.session(conn, 1)
	now := time.Now()
	if c.flying.Add(1) == 1 {
		c.heard.Store(now.UnixNano())
	}
	return context.WithValue(ctx, beganKey{}, now)
}

// over notes that a statement was answered.
func (c *clocked) over(ctx context.Context, conn *pgx.Conn) {
	if ctx.Value(asideKey{}) != nil {
		return
	}
	c.session(conn, -1)
	c.heard.Store(time.Now().UnixNano())
	c.flying.Add(-1)
}

// session counts the statements of a session that wait for an answer.
func (c *clocked) session(conn *pgx.Conn, by int) {
	pid := int32(conn.PgConn().PID())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		c.sessions = map[int32]int{}
	}
	if c.sessions[pid] += by; c.sessions[pid] <= 0 {
		delete(c.sessions, pid)
	}
}

// pids are the process ids of the sessions that wait for an answer.
func (c *clocked) pids() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.sessions))
}

// asideKey marks the context of a question about other statements, which is not tracked.
type asideKey struct{}

// Silent is for how long the server has not answered while statements wait for it; 0 when
// none does, or when nothing measures them because the pool is the caller's.
func (q *Queue) Silent() time.Duration {
	if q.clocked == nil || q.clocked.flying.Load() == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, q.clocked.heard.Load())), 0)
}

// clockOf is what measures the statements of a pool; nil when nothing does.
func clockOf(pool *pgxpool.Pool) *clocked {
	c, _ := pool.Config().ConnConfig.Tracer.(*clocked)
	return c
}

// of is how long the statement ran that ended so; 0 when it was not measured.
func (c *clocked) of(err *pgconn.PgError) time.Duration {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ended {
		if e.err == err {
			return e.took
		}
	}
	return 0
}

type beganKey struct{}

func (c *clocked) note(ctx context.Context, err error) {
	pg := (*pgconn.PgError)(nil)
	began, ok := ctx.Value(beganKey{}).(time.Time)
	if err == nil || !ok || !errors.As(err, &pg) || pg.Code != queryCanceled {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[c.next].err, c.ended[c.next].took = pg, time.Since(began)
	c.next = (c.next + 1) % len(c.ended)
}

// TraceQueryStart, and the methods after it, are called by pgx.
func (c *clocked) TraceQueryStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return c.began(ctx, conn)
}

func (c *clocked) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	c.over(ctx, conn)
	c.note(ctx, data.Err)
}

func (c *clocked) TraceBatchStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return c.began(ctx, conn)
}

func (c *clocked) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	c.note(ctx, data.Err)
}

func (c *clocked) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	c.over(ctx, conn)
	c.note(ctx, data.Err) // of what came before its statements were sent
}

func (c *clocked) TraceCopyFromStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return c.began(ctx, conn)
}

func (c *clocked) TraceCopyFromEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceCopyFromEndData) {
	c.over(ctx, conn)
	c.note(ctx, data.Err)
}
