package watch

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

// network is one on which the connections of one application can be made to go
// silent, with nobody being told.
type network struct {
	app   string
	until string      // what does not get through, and nothing after it; "" nothing does
	mute  atomic.Bool // its connections go silent as soon as they are made
	mu    sync.Mutex
	conns []*networkConn // of the application
	away  bool           // nobody is reached
}

type networkConn struct {
	net.Conn
	of     *network
	first  sync.Once
	silent atomic.Bool
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	away := n.away
	n.mu.Unlock()
	if away {
		return nil, syscall.ENETUNREACH
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &networkConn{Conn: conn, of: n}, nil
}

// silence stalls the connections there are; later ones work. It returns how many.
func (n *network) silence() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.silent.Store(true)
	}
	return len(n.conns)
}

// silenced is how many connections are silent.
func (n *network) silenced() (silent int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		if c.silent.Load() {
			silent++
		}
	}
	return silent
}

// cut ends every connection, also for the server.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.Conn.Close()
	}
}

func (c *networkConn) Write(b []byte) (int, error) {
	c.first.Do(func() { // the startup message names the application
		if strings.Contains(string(b), c.of.app) {
			c.of.mu.Lock()
			c.of.conns = append(c.of.conns, c)
			c.of.mu.Unlock()
			c.silent.Store(c.of.mute.Load())
		}
	})
	if c.of.until != "" && strings.Contains(string(b), c.of.until) {
		c.silent.Store(true)
	}
	if c.silent.Load() {
		return len(b), nil // into the void
	}
	return c.Conn.Write(b)
}

// Close does not reach the server over a silent network.
func (c *networkConn) Close() error {
	if c.silent.Load() {
		return c.Conn.SetDeadline(time.Unix(1, 0))
	}
	return c.Conn.Close()
}

func (c *networkConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}

// down ends every connection and lets none begin until up.
func (n *network) down() {
	n.mu.Lock()
	n.away = true
	n.mu.Unlock()
	n.cut()
}

func (n *network) up() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = false
}

// across opens the queue over a network of the test's own.
func across(t *testing.T, url string, n *network) *queue.Queue {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = n.dial
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.cut)
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	return q
}
