package watch

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

const (
	// A statement that takes longer is given up by the server, where it has no shorter
	// limit of its own, and a server which does not even say so is given up a little later.
	statementTimeout = 5 * time.Second
	pollDeadline     = 6 * time.Second
	silentAfter      = 4 * time.Second // when the screen is told that there is no answer
)

// openReader makes the connection which all of the feed's readings share, one at a
// time (see read). It is a pool of several only because pgx takes up to 15 s to let
// go of a connection that no longer answers, and its place is needed before.
func (f *Feed) openReader() (*queue.Queue, error) {
	config := f.q.Pool().Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = 4, 0, 0
	f.name(config.ConnConfig, "poll")
	after := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if after != nil {
			if err := after(ctx, conn); err != nil {
				return err
			}
		}
		return f.setUp(ctx, conn)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return queue.New(pool, f.q.Schema().Name())
}

// setUp bounds what is read over a connection, and says how it is planned.
func (f *Feed) setUp(ctx context.Context, conn *pgx.Conn) error {
	// Once for each connection, and perhaps behind a pooler: nothing to prepare.
	rows, err := conn.Query(ctx, f.q.Schema().Query("watch_session"), pgx.QueryExecModeExec, int64(conn.PgConn().PID()), statementTimeout.Milliseconds())
	if err != nil {
		return err
	}
	var name, value, limit string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		if name == "statement_timeout" {
			limit = value
		}
		return nil
	})
	f.note(func() { f.limit = limit })
	return err
}

// name makes a connection of the feed known to whoever looks at pg_stat_activity.
func (f *Feed) name(config *pgx.ConnConfig, what string) {
	config.RuntimeParams["application_name"] = "leasetop feed " + what
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
}

// turn waits until nobody else reads for this feed, and says how to end one's turn.
func (f *Feed) turn(ctx context.Context) (over func(), err error) {
	select {
	case f.reading <- struct{}{}:
		return sync.OnceFunc(func() { <-f.reading }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read does one reading of the feed when no other is under way, and bounds it.
func (f *Feed) read(ctx context.Context, do func(context.Context) error) error {
	over, err := f.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	return within(ctx, pollDeadline, func(ctx context.Context) error {
		silent := time.AfterFunc(silentAfter, func() {
			if ctx.Err() == nil {
				f.down(Polled, "no answer for "+inWords(silentAfter))
			}
		})
		defer silent.Stop()
		return do(ctx)
	})
}

// readServer reads where we are, the clock, and how far the write-ahead log goes.
func (f *Feed) readServer(ctx context.Context) error {
	conn, err := f.reader.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var clock time.Time
	var position pglogrepl.LSN
	var table uint32
	var published string
	s := Server{Host: hostOf(conn.Conn()), Schema: f.q.Schema().Name()}
	sent := time.Now()
	err = conn.QueryRow(ctx, f.q.Schema().Query("watch_server")).
		Scan(&s.Version, &s.User, &s.Database, &s.ReadOnly, &table, &clock, &position, &published)
	received := time.Now()
	if err != nil {
		return err
	}
	s.SchemaMissing = table == 0
	f.change(func() {
		s.SchemaOld = f.draft.Server.SchemaOld      // until a whole poll succeeds
		if f.draft.Server.ReadOnly && !s.ReadOnly { // promoted: what a standby refuses may be had now
			poke(f.retryWAL)
			poke(f.retryDead)
		}
		f.draft.Server = s
		f.skew.add(sent, received, clock)
		if f.draft.WAL.OK {
			f.marks.add(position, sent)
		}
	})
	if s.SchemaMissing {
		return f.gone(queue.ErrSchemaMissing)
	}
	switch now := f.current.Load(); {
	case now == nil:
	case now.decoder.table != table:
		now.abandon(errReplaced)
	case now.published != published:
		now.abandon(errPublication)
	}
	return nil
}

// hostOf is the host or socket folder in use.
func hostOf(conn *pgx.Conn) string {
	config := conn.Config()
	for _, other := range config.Fallbacks {
		if other.Host != config.Host { // several were named: which is it?
			return conn.PgConn().Conn().RemoteAddr().String()
		}
	}
	return config.Host
}
