package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// ConnConfig is a copy of how the pool connects, TLS and all, for a connection of one's own.
// What the pool's hooks add is not in it: see [Queue.Connect].
func (q *Queue) ConnConfig() *pgx.ConnConfig { return q.pool.Config().ConnConfig.Copy() }

// DialConfig is ConnConfig as the pool would use it now: where it is told its password
// at each connection, because that is a token which expires, so is this; and nothing is
// prepared where a pooler may stand between. A connection made by it has not been through
// the pool's other hooks, as one by [Queue.Connect] has.
func (q *Queue) DialConfig(ctx context.Context) (*pgx.ConnConfig, error) {
	config := q.ConnConfig()
	q.pooler.fit(config)
	if prepare := q.pool.Config().BeforeConnect; prepare != nil {
		if err := prepare(ctx, config); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// Connect makes a connection beside the pool as the pool makes its own: BeforeConnect,
// AfterConnect and PrepareConn (or BeforeAcquire) of its configuration are called, so
// that a role, a setting or a type which they bring is there, too. shape, when it is not
// nil, changes the configuration before: its name, say.
//
// The caller keeps the session and closes it. It is idle at times, so idle_session_timeout
// is switched off for it. Where that cannot be done, because a pooler may share the session
// with others, idle is how long it may be silent; 0 is as long as it likes.
func (q *Queue) Connect(ctx context.Context, shape func(*pgx.ConnConfig)) (conn *pgx.Conn, idle time.Duration, err error) {
	for range connectTries {
		conn, err = q.connect(ctx, shape)
		if !errors.Is(err, errUnfit) {
			break
		}
	}
	if err != nil {
		return nil, 0, err
	}
	if idle, err = q.stay(ctx, conn); err != nil {
		closeNow(conn)
		return nil, 0, err
	}
	return conn, idle, nil
}

// connectTries bounds the connections that PrepareConn may throw away for one that is kept.
const connectTries = 3

var errUnfit = errors.New("the pool's PrepareConn takes no connection")

func (q *Queue) connect(ctx context.Context, shape func(*pgx.ConnConfig)) (*pgx.Conn, error) {
	config, err := q.DialConfig(ctx)
	if err != nil {
		return nil, err
	}
	if shape != nil {
		shape(config)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := q.prepare(ctx, conn); err != nil {
		closeNow(conn)
		return nil, err
	}
	return conn, nil
}

// prepare does with a new connection what the pool does before it hands one out.
func (q *Queue) prepare(ctx context.Context, conn *pgx.Conn) error {
	hooks := q.pool.Config()
	if hooks.AfterConnect != nil {
		err := hooks.AfterConnect(ctx, conn)
		switch {
		case err != nil && q.owned: // the hook is ours, and says itself what is wrong
			return err
		case err != nil:
			return fmt.Errorf("prepare a connection as the pool does (AfterConnect): %w", err)
		}
	}
	fit := true
	var err error
	//lint:ignore SA1019 the pool calls it where there is no PrepareConn
	before := hooks.BeforeAcquire
	if hooks.PrepareConn != nil {
		fit, err = hooks.PrepareConn(ctx, conn)
	} else if before != nil {
		fit = before(ctx, conn)
	}
	switch {
	case err != nil:
		return fmt.Errorf("prepare a connection as the pool does (PrepareConn): %w", err)
	case !fit:
		return errUnfit
	}
	return nil
}

// stay has the server let a connection be idle, and tells for how long it may be.
func (q *Queue) stay(ctx context.Context, conn *pgx.Conn) (time.Duration, error) {
	var limit string
	// Once for each connection, and perhaps behind a pooler: nothing to prepare.
	err := conn.QueryRow(ctx, q.schema.Query("stay"), pgx.QueryExecModeExec, int64(conn.PgConn().PID())).Scan(&limit)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseInt(limit, 10, 64)
	return time.Duration(ms) * time.Millisecond, err
}

// closePatience bounds the farewell to a connection that is of no use.
const closePatience = time.Second

func closeNow(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	_ = conn.Close(ctx)
}
