package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

// backlog holds a feed's stream back at its very start: the slot stands and the feed
// believes to read, but the server has not been asked for anything, until it is let go.
// A stream that merely were not read would be ended by the server after a while.
type backlog struct {
	dial pgconn.DialFunc
	held chan *heldConn // the connection whose stream is held back
}

// openHeld is open with a backlog of which the Queue's next feed is the reader.
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
		return &heldConn{Conn: conn, of: b}, nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	do(t, err)
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	do(t, err)
	return q, b
}

// wait waits until the stream is held back.
func (b *backlog) wait(t testing.TB) *heldConn {
	t.Helper()
	select {
	case c := <-b.held:
		return c
	case <-time.After(30 * time.Second):
		t.Fatal("the feed asked for no stream")
		return nil
	}
}

// heldConn is a connection that keeps START_REPLICATION to itself, and answers for the
// server meanwhile.
type heldConn struct {
	net.Conn
	of *backlog

	mu      sync.Mutex
	command []byte // START_REPLICATION, until it is let go
	answer  []byte // what the server is made to say
	skip    int    // bytes of what it says itself, since they were said for it
}

var copyBoth = []byte{'W', 0, 0, 0, 7, 0, 0, 0} // the answer to START_REPLICATION

func (c *heldConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(p) > 5 && bytes.HasPrefix(p[5:], []byte("START_REPLICATION")):
		c.command, c.answer = bytes.Clone(p), copyBoth
		c.of.held <- c
		return len(p), nil
	case c.command != nil && p[0] == 'd': // how far the feed is: heard
		c.answer = append(c.answer, c.alive()...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// alive is the keepalive of a server in which nothing happens.
func (c *heldConn) alive() []byte {
	from, _ := pglogrepl.ParseLSN(string(bytes.Fields(c.command)[4]))
	m := []byte{'d', 0, 0, 0, 4 + 1 + 8 + 8 + 1, pglogrepl.PrimaryKeepaliveMessageByteID}
	m = binary.BigEndian.AppendUint64(m, uint64(from))
	m = binary.BigEndian.AppendUint64(m, uint64(time.Now().UnixMicro()-epoch2000*1e6))
	return append(m, 0)
}

func (c *heldConn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		said := copy(p, c.answer)
		c.answer = c.answer[said:]
		c.mu.Unlock()
		if said > 0 {
			return said, nil
		}
		n, err := c.Conn.Read(p)
		c.mu.Lock()
		known := min(n, c.skip)
		c.skip -= known
		c.mu.Unlock()
		if n > known || err != nil {
			return copy(p, p[known:n]), err
		}
	}
}

// let lets the stream go.
func (c *heldConn) let(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	command := c.command
	c.command, c.skip = nil, len(copyBoth)
	_, err := c.Conn.Write(command)
	do(t, err)
}
