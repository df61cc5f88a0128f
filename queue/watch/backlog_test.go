package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

// backlog holds what a feed's stream says back, until it is let go. Both ends believe
// meanwhile that nothing happens: the server hears how far the feed is, and the feed
// gets answers.
type backlog struct {
	dial pgconn.DialFunc
	held chan *heldConn // the connection whose stream is held back
}

// openHeld is open with a backlog.
func openHeld(t testing.TB, url string) (*queue.Queue, *backlog) {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	do(t, err)
	b := &backlog{dial: config.ConnConfig.DialFunc, held: make(chan *heldConn, 1)}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := b.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &heldConn{Conn: conn, of: b, changed: make(chan struct{})}, nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	do(t, err)
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	do(t, err)
	return q, b
}

// wait waits until a stream is held back.
func (b *backlog) wait(t testing.TB) *heldConn {
	t.Helper()
	select {
	case c := <-b.held:
		return c
	case <-time.After(time.Minute):
		t.Fatal("the feed asked for no stream")
		return nil
	}
}

// heldConn is a connection of which nothing is read from START_REPLICATION on.
type heldConn struct {
	net.Conn
	of *backlog

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever something below changed
	holds    bool
	answer   []byte // what the server is made to say
	skip     int    // bytes of what it says itself, since they were said for it
	deadline time.Time
}

var copyBoth = []byte{'W', 0, 0, 0, 7, 0, 0, 0} // the answer to START_REPLICATION

func (c *heldConn) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *heldConn) Write(p []byte) (int, error) {
	c.change(func() {
		switch {
		case len(p) > 5 && bytes.HasPrefix(p[5:], []byte("START_REPLICATION")):
			c.holds, c.answer, c.skip = true, copyBoth, len(copyBoth)
			c.of.held <- c
		case c.holds && p[0] == 'd': // how far the feed is
			c.answer = append(c.answer, alive()...)
		}
	})
	return c.Conn.Write(p)
}

// alive is a keepalive that tells no position.
func alive() []byte {
	m := []byte{'d', 0, 0, 0, 4 + 1 + 8 + 8 + 1, pglogrepl.PrimaryKeepaliveMessageByteID}
	m = binary.BigEndian.AppendUint64(m, 0)
	m = binary.BigEndian.AppendUint64(m, uint64(microsOf(time.Now())))
	return append(m, 0)
}

func (c *heldConn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		said := copy(p, c.answer)
		c.answer = c.answer[said:]
		holds, skip, changed, deadline := c.holds, c.skip, c.changed, c.deadline
		c.mu.Unlock()
		switch {
		case said > 0:
			return said, nil
		case holds && deadline.IsZero():
			<-changed
		case holds:
			select {
			case <-changed:
			case <-time.After(time.Until(deadline)):
				return 0, os.ErrDeadlineExceeded
			}
		default:
			n, err := c.Conn.Read(p)
			known := min(n, skip)
			c.change(func() { c.skip -= known })
			if n > known || err != nil {
				return copy(p, p[known:n]), err
			}
		}
	}
}

func (c *heldConn) SetReadDeadline(t time.Time) error {
	c.change(func() { c.deadline = t })
	return c.Conn.SetReadDeadline(t)
}

func (c *heldConn) SetDeadline(t time.Time) error {
	c.change(func() { c.deadline = t })
	return c.Conn.SetDeadline(t)
}

func (c *heldConn) Close() error {
	c.let()
	return c.Conn.Close()
}

// let lets the stream go.
func (c *heldConn) let() { c.change(func() { c.holds = false }) }
