package queue

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pooler finds out whether something stands between us and PostgreSQL that hands a
// server's session from one client to the next. What pgx prepares under a name, as it
// does by default, is then not there any more when it is used, or already there when it
// is made; so behind a pooler only the types of a statement are remembered, and it is sent
// anew each time. Who named a mode in the connection string knows better, and is left alone.
type pooler struct {
	statement string // asks
	asked     atomic.Bool
	between   atomic.Bool
}

// fit has a connection prepare nothing unless it is known that none stands between.
func (p *pooler) fit(config *pgx.ConnConfig) {
	prepares := config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement
	if p != nil && prepares && (p.between.Load() || !p.asked.Load()) {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		keepNothingMore(config)
	}
}

// ask finds out over a new connection, unless it is known.
func (p *pooler) ask(ctx context.Context, conn *pgx.Conn) error {
	if p.between.Load() || conn.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		return nil
	}
	answer, err := conn.PgConn().Exec(ctx, p.statement).ReadAll()
	if err != nil {
		return err
	}
	told := strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
	if len(answer) == 1 && len(answer[0].Rows) == 1 && string(answer[0].Rows[0][0]) != told {
		p.between.Store(true)
	}
	p.asked.Store(true)
	return nil
}

// heed has a pool do as is known.
func (p *pooler) heed(config *pgxpool.Config) {
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if p.between.Load() {
			p.fit(c)
		}
		return nil
	}
	// The connections from before we knew are replaced.
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return !p.between.Load() || conn.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement, nil
	}
}
