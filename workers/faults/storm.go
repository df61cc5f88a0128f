package faults

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// Storm is workers that know no way to wait but to ask again. It is safe for concurrent use.
type Storm struct {
	q     *queue.Queue
	queue string
	name  string // of the workers, but for their numbers
	every time.Duration

	stop    context.CancelFunc
	workers sync.WaitGroup

	polls     atomic.Uint64
	connected atomic.Int64
}

// stormLease is how long the jobs of such a worker are its own; it finishes at once.
const stormLease = 30 * time.Second

// PollingStorm starts n workers, each of which asks a queue for one job every so often,
// on a connection of its own, whether or not there is any, and completes what it gets at
// once. They are called by name and number, begin spread over the first interval, and
// connect again when they must.
func PollingStorm(q *queue.Queue, asked, name string, n int, every time.Duration) (*Storm, error) {
	if n < 1 || every <= 0 {
		return nil, fmt.Errorf("polling storm: %d workers every %v: use 1 or more of each", n, every)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Storm{q: q, queue: asked, name: name, every: every, stop: stop}
	for i := range n {
		s.workers.Go(func() { s.work(ctx, fmt.Sprintf("%s%d", s.name, i+1), every*time.Duration(i)/time.Duration(n)) })
	}
	return s, nil
}

// Stop ends the storm and returns when all its connections are closed.
func (s *Storm) Stop() {
	s.stop()
	s.workers.Wait()
}

// Polls is how often the queue was asked so far.
func (s *Storm) Polls() uint64 { return s.polls.Load() }

// Connections is how many of the workers are connected now.
func (s *Storm) Connections() int { return int(s.connected.Load()) }

func (s *Storm) work(ctx context.Context, name string, after time.Duration) {
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = s.connection(ctx, name, tick.C) // another follows
		select {                            // before it connects again
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// connection polls on one connection until that fails.
func (s *Storm) connection(ctx context.Context, name string, tick <-chan time.Time) error {
	conn, _, err := s.q.Connect(ctx, func(c *pgx.ConnConfig) { c.RuntimeParams["application_name"] = "leasetop polling storm" })
	if err != nil {
		return err
	}
	s.connected.Add(1)
	defer func() {
		s.connected.Add(-1)
		closeSoon(conn)
	}()
	for {
		s.polls.Add(1)
		id, ok, err := Skipping(ctx, conn, s.q.Schema(), s.queue, name, stormLease)
		if err == nil && ok {
			_, err = Finish(ctx, conn, s.q.Schema(), id, name)
		}
		if err != nil {
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}
