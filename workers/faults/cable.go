package faults

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cable is the network between the connections that lead through it and their server.
// It lies below TLS, and knows Unix sockets as well as TCP. All it does counts for the
// connections that are there and for those to come. It is safe for concurrent use.
type Cable struct {
	mu      sync.Mutex
	state   cableState
	delay   time.Duration
	changed chan struct{} // closed and replaced when state changes
	wires   map[*wire]struct{}
	pumps   sync.WaitGroup
}

type cableState int

const (
	flowing cableState = iota
	stalled
	cut
	closed
)

// NewCable makes a cable that does no harm yet.
func NewCable() *Cable {
	return &Cable{changed: make(chan struct{}), wires: map[*wire]struct{}{}}
}

// Through has the connections made from config lead through the cable, also those that
// carry a cancel request. Call it before the first is made.
func (c *Cable) Through(config *pgx.ConnConfig) {
	dial := config.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		return c.dial(ctx, network, address, dial)
	}
}

func (c *Cable) dial(ctx context.Context, network, address string, dial func(context.Context, string, string) (net.Conn, error)) (net.Conn, error) {
	for {
		state, changed := c.now()
		switch state {
		case stalled: // the server never hears of it, and nobody says so
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, &net.OpError{Op: "dial", Net: network, Err: context.Cause(ctx)}
			}
		case cut:
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		case closed:
			return nil, &net.OpError{Op: "dial", Net: network, Err: net.ErrClosed}
		}
		inner, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if w := c.join(inner); w != nil {
			return w, nil
		}
		_ = inner.Close() // it was cut meanwhile
	}
}

func (c *Cable) now() (cableState, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.changed
}

// join leads a connection through the cable, unless that is cut.
func (c *Cable) join(inner net.Conn) *wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state >= cut {
		return nil
	}
	w := newWire(inner, c.state == stalled, c.delay)
	c.wires[w] = struct{}{}
	var ends sync.WaitGroup
	ends.Go(w.upload)
	ends.Go(w.download)
	c.pumps.Go(func() {
		ends.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.wires, w)
	})
	return w
}

// Stall lets no byte pass in either direction, and tells nobody: a network partition.
// What is written is kept, as by a kernel that sends again and again, and arrives when
// the cable is healed, even if whoever wrote it has closed the connection meanwhile.
// New connections hang until the cable is healed or their context ends.
func (c *Cable) Stall() { c.change(stalled) }

// Cut breaks all connections, as a reset does, and has new ones refused at once. What
// was on its way is lost.
func (c *Cable) Cut() { c.change(cut) }

// Heal lets bytes pass again, at once: the delay is over too, and what was held back
// arrives now. Connections that were cut stay broken. It does nothing to a closed cable.
func (c *Cable) Heal() {
	c.Delay(0)
	c.change(flowing)
}

// Delay has all that is sent from now on arrive late by d, in each direction: a round
// trip takes 2d longer, however much it carries. 0 is none; less is taken for it.
func (c *Cable) Delay(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delay = max(d, 0)
	for w := range c.wires {
		w.set(c.state == stalled, c.delay)
	}
}

// Close breaks all connections for good, and returns when nothing is left of them.
func (c *Cable) Close() {
	c.change(closed)
	c.pumps.Wait()
}

// String says what is wrong with the cable: "flowing", "stalled", "cut", "closed" or
// "late by 50ms".
func (c *Cable) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == stalled:
		return "stalled"
	case c.state == cut:
		return "cut"
	case c.state == closed:
		return "closed"
	case c.delay > 0:
		return fmt.Sprintf("late by %v", c.delay)
	}
	return "flowing"
}

func (c *Cable) change(to cableState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closed || c.state == to {
		return
	}
	c.state = to
	close(c.changed)
	c.changed = make(chan struct{})
	for w := range c.wires {
		if to >= cut {
			w.snap()
		} else {
			w.set(to == stalled, c.delay)
		}
	}
}
