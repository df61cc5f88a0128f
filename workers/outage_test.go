package workers

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Ownership is the lease, not the session: jobs outlive every connection.
func TestTerminatedSessionsStartNoSecondRun(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	g := newGate(t)
	inside := make(chan struct{}, 10)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
		inside <- struct{}{}
		return g.wait(ctx)
	}), Options{Lease: 3 * time.Second})
	beats := p.signals.beat.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler", inside)
	exec(t, q, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	own := openAt(t, url, nil) // the pool of q may still hold sessions that are gone
	claimed := get(t, own, id)
	for count(t, own, "SELECT count(*) WHERE clock_timestamp() > $1", claimed.LeaseExpiresAt) == 0 {
		receive(t, "a heartbeat", beats)
	}
	g.open()
	waitUntil(t, p, "its completion", func() bool { return get(t, own, id).Status == queue.Completed })
	job := get(t, own, id)
	if len(inside) != 0 || job.Attempts != 1 {
		t.Errorf("it ran %d times more, attempts %d", len(inside), job.Attempts)
	}
}

func TestServerRestartStartsNoSecondRun(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := openAt(t, testdb.On(t, server), nil)
	g := newGate(t)
	inside := make(chan struct{}, 10)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
		inside <- struct{}{}
		return g.wait(ctx)
	}), Options{Lease: 20 * time.Second})
	start(t, p)
	spawn(t, p, 2, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler", inside)
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	waitFor(t, p, DBTrouble, func(e Event) bool { return e.Text == "heartbeats work again" })
	q.Pool().Reset() // for the test's own statements
	g.open()
	job := waitStatus(t, p, id, queue.Completed)
	if len(inside) != 0 || job.Attempts != 1 {
		t.Errorf("it ran %d times more, attempts %d", len(inside), job.Attempts)
	}
	next := enqueue(t, q, queue.NewJob{})[0]
	waitStatus(t, p, next, queue.Completed)
}

func TestServerDownAtStartAndLater(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	if err := server.Halt(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	q := openAt(t, url, nil)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	start(t, p) // returns although nobody answers
	spawn(t, p, 1, "q")
	waitFor(t, p, DBTrouble)
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	waitFor(t, p, DBTrouble, func(e Event) bool { return e.Text == "heartbeats work again" })
	id := enqueue(t, q, queue.NewJob{})[0]
	waitStatus(t, p, id, queue.Completed)

	_, last := p.Events(0)
	if err := server.Halt(t.Context(), local.Immediate); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, p, "the outage to be told", func() bool {
		fresh, _ := p.Events(last)
		return len(fresh) > 0
	})
	if err := p.Stop(context.Background()); err != nil { // also while the server is down
		t.Errorf("stop: %v", err)
	}
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
}

// Under repeatable read or serializable, concurrent claims would fail with 40001
// instead of skipping locked rows.
func TestRoleDefaultIsolationLosesNoJob(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			q := openAt(t, testdb.New(t), func(c *pgxpool.Config) {
				c.MaxConns = 16
				c.ConnConfig.RuntimeParams["default_transaction_isolation"] = level
			})
			var done atomic.Int64
			h := on(func(ctx context.Context, job *queue.Job) error {
				done.Add(1)
				if job.Kind == "long" && !sleep(ctx, 2*time.Second) {
					return context.Cause(ctx)
				}
				return nil
			})
			p := newPool(t, q, h, Options{Lease: 3 * time.Second})
			enqueue(t, q, append(many(1000, queue.NewJob{}), many(5, queue.NewJob{Kind: "long"})...)...)
			start(t, p)
			for range 16 {
				spawn(t, p, 1, "q")
			}
			waitDone(t, p)
			if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed' AND attempts = 1"); n != 1005 || done.Load() != 1005 {
				t.Errorf("%d completed at the first attempt, %d runs; want 1005", n, done.Load())
			}
			if has(p, DBTrouble) {
				t.Error("there was trouble with the database")
			}
		})
	}
}

// What could not be renewed must not be claimed.
func TestNothingIsClaimedBeforeTheHeartbeatConnectionStands(t *testing.T) {
	t.Parallel()
	var refused atomic.Bool
	q := openAt(t, testdb.New(t), func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if refused.Load() {
				return nil, errors.New("no more connections")
			}
			return dial(ctx, network, addr)
		}
	})
	exec(t, q, "INSERT INTO leasetop.jobs (queue) VALUES ('q')") // the pool has one connection to claim with
	const id = 1
	refused.Store(true)
	p := newPool(t, q, on(nothing), Options{})
	beats := p.signals.beat.listen()
	spawn(t, p, 1, "q")
	start(t, p)
	for range 3 {
		if receive(t, "a try to connect", beats) == nil {
			t.Fatal("a heartbeat without a connection")
		}
	}
	if job := get(t, q, id); job.Status != queue.Pending {
		t.Errorf("the job is %s", job.Status)
	}
	refused.Store(false)
	waitStatus(t, p, id, queue.Completed)
}

// The handler is done while nobody answers: its outcome is written once somebody
// does, and the job runs once.
func TestOutcomeOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	near := openAt(t, url, nil)
	var cut atomic.Bool
	far := openAt(t, url, func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if cut.Load() {
				return nil, errors.New("the network is down")
			}
			return dial(ctx, network, addr)
		}
	})
	g := newGate(t)
	p := newPool(t, far, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: time.Minute})
	troubled := p.signals.troubled.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, near, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	cut.Store(true)
	exec(t, near, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	g.open()
	for receive(t, "the outcome to fail", troubled) != "outcomes" {
	}
	if job := get(t, near, id); job.Status != queue.Processing {
		t.Errorf("the job is %s", job.Status)
	}
	cut.Store(false)
	waitUntil(t, p, "the outcome", func() bool { return p.Workers()[0].Completed == 1 })
	if job := get(t, near, id); job.Status != queue.Completed || job.Attempts != 1 || has(p, StaleFenced) {
		t.Errorf("the job is %s after %d attempts", job.Status, job.Attempts)
	}
}
