package faults

import (
	"context"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/workers"
)

// ThroughListener has of the connections made from config only the one lead through the
// cable on which a pool hears of new work; app is the application name of the pool's
// queue. Stalled, it takes the wake-ups away and nothing else, and nobody is told. Call it
// before the first connection is made.
func (c *Cable) ThroughListener(config *pgx.ConnConfig, app string) {
	listener := workers.ListenerName(app)
	before := config.AfterNetConnect
	config.AfterNetConnect = func(ctx context.Context, made *pgconn.Config, conn net.Conn) (net.Conn, error) {
		if before != nil {
			var err error
			if conn, err = before(ctx, made, conn); err != nil {
				return conn, err
			}
		}
		if made.RuntimeParams["application_name"] != listener {
			return conn, nil
		}
		if w := c.join(conn); w != nil {
			return w, nil
		}
		return conn, &net.OpError{Op: "dial", Net: conn.RemoteAddr().Network(), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
}
