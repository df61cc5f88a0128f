package watch

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	gatherLeast = 100 * time.Microsecond
	gatherMost  = 2 * time.Millisecond
	little      = 2 << 10 // bytes: after fewer it rests longer,
	much        = 8 << 10 // and after more not so long
)

// gathering is a connection that is read a little later than it could be. The server
// sends each message by itself, of which a change in a transaction of its own has
// three, and to be woken for each costs both ends more than the message itself. What
// came while it rested is read at once.
type gathering struct {
	net.Conn
	doze func(time.Duration)

	asked  atomic.Bool // something was written: its answer is waited for
	mu     sync.Mutex  // pgx reads in the background too, while a write takes long
	buffer []byte
	unread []byte        // what came and was not asked for yet
	rest   time.Duration // from one reading to the next
	came   time.Time     // when something came last
}

// gathered has connections be gathering.
func gathered(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &gathering{Conn: conn, doze: doze, buffer: make([]byte, 64<<10)}, nil
	}
}

func (g *gathering) Write(p []byte) (int, error) {
	g.asked.Store(true)
	return g.Conn.Write(p)
}

func (g *gathering) Read(p []byte) (n int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.unread) == 0 {
		if left := g.rest - time.Since(g.came); !g.asked.Swap(false) && left > 0 {
			g.doze(left)
		}
		n, err = g.Conn.Read(g.buffer)
		g.unread, g.came = g.buffer[:n], time.Now()
		switch {
		case n < little:
			g.rest = min(max(2*g.rest, gatherLeast), gatherMost)
		case n > much && g.rest < 2*gatherLeast: // it is sent as fast as it is read: no rest
			g.rest = 0
		case n > much:
			g.rest /= 2
		}
		if n == 0 {
			return 0, err
		}
	}
	n = copy(p, g.unread)
	g.unread = g.unread[n:]
	return n, err
}
