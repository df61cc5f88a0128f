package workers

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// anywhere is a queue that is never connected to.
func anywhere(t *testing.T, conns int32) *queue.Queue {
	return openAt(t, "postgres://nobody@127.0.0.1:1/nowhere", func(c *pgxpool.Config) { c.MaxConns = conns })
}

func nothing(context.Context, *queue.Job) error { return nil }

func TestLeaseTooSmallIsRefusedWithTheSmallestAllowed(t *testing.T) {
	t.Parallel()
	q := anywhere(t, 4)
	for _, c := range []struct {
		name    string
		options Options
		handler []HandlerOption
		least   string
	}{
		{"pool", Options{Lease: 999 * time.Millisecond}, nil, "1s"},
		{"handler", Options{}, []HandlerOption{WithLease(500 * time.Millisecond)}, "1s"},
		{"with a margin", Options{Lease: time.Second, Margin: 500 * time.Millisecond}, nil, "1.4s"},
	} {
		_, err := New(q, on(nothing, c.handler...), c.options)
		if err == nil || !strings.Contains(err.Error(), "the smallest is "+c.least) {
			t.Errorf("%s: %v, want the smallest to be named: %s", c.name, err, c.least)
		}
	}
	if _, err := New(q, on(nothing), Options{Lease: time.Second}); err != nil {
		t.Errorf("a lease of one second: %v", err)
	}
}

func TestPoolTooSmallIsRefusedWithTheNumberNeeded(t *testing.T) {
	t.Parallel()
	if _, err := New(anywhere(t, 2), on(nothing), Options{}); err == nil || !strings.Contains(err.Error(), "3 are needed") {
		t.Errorf("a pool of 2: %v", err)
	}
	if _, err := New(anywhere(t, 3), on(nothing), Options{}); err != nil {
		t.Errorf("a pool of 3: %v", err)
	}
}

// Each direction of the network takes its time. With round trips of up to 300 ms
// a lease is what was asked for; beyond, it is stretched.
func TestLongJobRunsOnceOnASlowNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		lease    time.Duration
		up, down time.Duration
	}{
		{"1 s, round trips of 300 ms", time.Second, 150 * time.Millisecond, 150 * time.Millisecond},
		{"1 s, 300 ms each way", time.Second, 300 * time.Millisecond, 300 * time.Millisecond},
		{"3 s, 300 ms each way", 3 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			near, far := openAt(t, url, nil), openAt(t, url, newRelay(t, c.up, c.down).through)
			var runs atomic.Int64
			h := on(func(ctx context.Context, _ *queue.Job) error {
				runs.Add(1)
				if !sleep(ctx, 6*c.lease) {
					return context.Cause(ctx)
				}
				return nil
			})
			p := startPool(t, far, h, Options{Lease: c.lease}, 1)
			rival := startPool(t, near, h, Options{Lease: c.lease}, 0) // reaps whatever runs out
			id := enqueue(t, near, queue.NewJob{})[0]
			job := waitStatus(t, p, id, queue.Completed)
			if runs.Load() != 1 || job.Attempts != 1 {
				t.Errorf("it ran %d times, attempts %d, want 1 and 1", runs.Load(), job.Attempts)
			}
			for _, what := range []What{TrustEnded, LeaseLost, StaleFenced} {
				if has(p, what) {
					t.Errorf("an event says: %s", what)
				}
			}
			if has(rival, ReapedBack) {
				t.Error("its lease ran out and was reclaimed")
			}
		})
	}
}

func TestClaimsAndRenewalsUseTheHandlersLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	leases := make(chan time.Duration, 2)
	look := func(ctx context.Context, job *queue.Job) error {
		leases <- job.LeaseExpiresAt.Sub(*job.LockedAt)
		return nil
	}
	h := NewHandlers()
	h.Queue("long", look, WithLease(77*time.Second))
	h.Queue("usual", look)
	p := startPool(t, q, h, Options{Lease: 11 * time.Second}, 0)
	spawn(t, p, 1, "long", "usual")
	enqueue(t, q, queue.NewJob{Queue: "long"})
	if got := receive(t, "the long job", leases).Round(time.Second); got != 77*time.Second {
		t.Errorf("the queue's own lease: %v, want 77s", got)
	}
	enqueue(t, q, queue.NewJob{Queue: "usual"})
	if got := receive(t, "the usual job", leases).Round(time.Second); got != 11*time.Second {
		t.Errorf("the pool's lease: %v, want 11s", got)
	}
}

// A claim goes by queue and cannot know: the lease of a kind counts from the first heartbeat on.
func TestRenewalsUseTheKindsLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	h := NewHandlers()
	h.Kind("slow", func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }, WithLease(10*time.Minute))
	p := newPool(t, q, h, Options{Lease: 3 * time.Second})
	beats := p.signals.beat.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{Kind: "slow"})[0]
	if err := receive(t, "a heartbeat", beats); err != nil {
		t.Fatal(err)
	}
	if job := get(t, q, id); job.LeaseExpiresAt.Sub(job.UpdatedAt) != 10*time.Minute {
		t.Errorf("renewed at %v until %v, want 10 min later", job.UpdatedAt, job.LeaseExpiresAt)
	}
	g.open()
	waitStatus(t, p, id, queue.Completed)
}
