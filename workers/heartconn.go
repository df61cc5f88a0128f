package workers

import (
	"context"
	"errors"
	"time"
)

// connect makes a connection and lets jobs be claimed once it has proved to be good. Each
// that gives no answer in time has the next waited for twice as long: a network may be slow.
func (h *heart) connect(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, endured(connectPatience, h.slow))
	defer cancel()
	defer func() {
		if errors.Is(err, context.DeadlineExceeded) {
			h.slow++
			h.forgetTrips() // they were quicker
		}
	}()
	if h.conn, h.idle, err = h.p.q.Connect(ctx, nil); err != nil {
		return err
	}
	if err := h.ask(ctx); err != nil {
		return err
	}
	if err := h.prove(ctx); err != nil {
		return err
	}
	h.slow = 0
	h.set(true)
	if h.shy.step == 0 { // else the next that renews a lease says so
		h.p.works("heartbeats")
	}
	return nil
}

// prove sends the first heartbeat of a connection, for no job when none is held. A server
// may let us in and still answer none, as while somebody locks the table, or refuse each.
func (h *heart) prove(ctx context.Context) error {
	if h.holds() {
		return h.beat(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, h.patience())
	defer cancel()
	return h.p.q.ProbeHeartbeat(ctx, h.conn)
}

// holds tells whether any lease is to be renewed.
func (h *heart) holds() bool {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	return len(h.p.holders) > 0
}

// ask finds out whether the connection still stands, and how long a round trip takes.
func (h *heart) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.patience())
	defer cancel()
	sent := h.p.clock()
	h.spoke = sent
	if err := h.conn.Ping(ctx); err != nil {
		return err
	}
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.doubted = false
	h.took(h.p.clock() - sent)
	return nil
}

// forgetTrips forgets how long round trips took.
func (h *heart) forgetTrips() {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.trips = nil
}

func (h *heart) disconnect() {
	h.set(false)
	h.idle = 0
	if h.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	_ = h.conn.Close(ctx) // it is given up either way
	h.conn = nil
}

func (h *heart) set(up bool) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	if h.up != up {
		h.up = up
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// patience bounds a heartbeat: late enough for a slow network, early enough for
// a second try on a new connection before leases end. The first on a connection takes
// twice as many round trips, since its statements are prepared.
func (h *heart) patience() time.Duration {
	trips := time.Duration(2 * heartbeatTrips)
	if up, _ := h.standing(); !up {
		trips *= 2
	}
	return endured(max(h.p.period(), time.Second, trips*h.roundTrip()), h.slow)
}
