package workers

import (
	"context"
	"fmt"
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

// Each direction of the network takes its time. With round trips of up to 80 ms
// a lease is what was asked for; beyond, it is stretched.
func TestLongJobRunsOnceOnASlowNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		lease    time.Duration
		up, down time.Duration
	}{
		{"1 s, round trips of 300 ms", time.Second, 150 * time.Millisecond, 150 * time.Millisecond},
		{"1 s, round trips longer than it", time.Second, 550 * time.Millisecond, 550 * time.Millisecond},
		{"1 s, 300 ms each way", time.Second, 300 * time.Millisecond, 300 * time.Millisecond},
		{"3 s, 300 ms each way", 3 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// A machine that stands still for as long as a lease ends it, and no protocol
			// helps: that may happen to a round, but not to each.
			for round := 1; ; round++ {
				wrong := longJob(t, c.lease, newRelay(t, c.up, c.down))
				switch {
				case len(wrong) == 0:
					return
				case round == 3:
					t.Fatalf("in each of %d rounds: %q", round, wrong)
				}
				t.Logf("round %d: %q", round, wrong)
			}
		})
	}
}

// longJob does a job of several leases over a slow network beside a rival that takes
// whatever runs out, and returns what should not have happened.
func longJob(t *testing.T, lease time.Duration, network *relay) (wrong []string) {
	t.Helper()
	url := testdb.New(t)
	near, far := openAt(t, url, nil), openAt(t, url, network.through)
	var runs atomic.Int64
	h := on(func(ctx context.Context, _ *queue.Job) error {
		runs.Add(1)
		if !sleep(ctx, min(6*lease, 9*time.Second)) {
			return context.Cause(ctx)
		}
		return nil
	})
	p := startPool(t, far, h, Options{Lease: lease}, 1)
	rival := startPool(t, near, h, Options{Lease: lease}, 0)
	id := enqueue(t, near, queue.NewJob{})[0]
	var job *queue.Job
	waitUntil(t, p, fmt.Sprintf("the end of job %d", id), func() bool {
		job = get(t, near, id)
		return job.Status != queue.Pending && job.Status != queue.Processing
	})
	if job.Status != queue.Completed || runs.Load() != 1 || job.Attempts != 1 {
		wrong = append(wrong, fmt.Sprintf("it ran %d times and is %s at attempt %d", runs.Load(), job.Status, job.Attempts))
	}
	for _, what := range []What{TrustEnded, LeaseLost, StaleFenced} {
		if has(p, what) {
			wrong = append(wrong, string(what))
		}
	}
	if has(rival, ReapedBack) {
		wrong = append(wrong, "its lease ran out and was reclaimed")
	}
	return wrong
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

// The heart sends one heartbeat at a time, which takes two round trips when a job ended
// meanwhile. The worst moment for a claim is when one has just left without it: the next is
// sent when that has come back, or is due later and has just been missed again.
func TestSteadyRoundTripLosesNoLease(t *testing.T) {
	t.Parallel()
	const busy = 20 * time.Millisecond // what a process takes to hear of an answer
	for _, o := range []Options{{}, {Margin: 100 * time.Millisecond}, {Margin: 8 * time.Second}} {
		for _, lease := range []time.Duration{o.smallestLease(), 2 * o.smallestLease(), 10 * time.Second, 30 * time.Second} {
			for _, trip := range []time.Duration{0, 100, 200, 250, 300, 400, 600, 800, 1600, 4000} {
				trip *= time.Millisecond
				length := o.stretched(lease, trip)
				trusted := length - o.margin(length)
				for _, missed := range []time.Duration{trip, o.period(lease)} { // a heartbeat leaves just before
					if answered := missed + 4*trip + busy; answered > trusted {
						t.Errorf("margin %v, round trips of %v: a lease of %v, made %v, is trusted for %v; its heartbeat is answered after %v", o.Margin, trip, lease, length, trusted, answered)
					}
				}
			}
			if length := o.stretched(lease, 80*time.Millisecond); length != lease {
				t.Errorf("margin %v: a lease of %v is made %v though round trips take 80 ms only", o.Margin, lease, length)
			}
		}
	}
}

// Or no handler would ever begin.
func TestHandlersBeginUnderEachLeaseThatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, margin := range []time.Duration{0, 100 * time.Millisecond, time.Second, time.Minute} {
		o := Options{Margin: margin}
		for _, trip := range []time.Duration{0, time.Millisecond, 300 * time.Millisecond, 5 * time.Second} {
			lease := o.smallestLease()
			trusted := o.stretched(lease, trip) - o.margin(lease) - trip // once the answer is there
			if need := o.needed(lease, trip); trusted <= need {
				t.Errorf("margin %v, round trips of %v: a lease of %v is trusted for %v, and %v are needed", margin, trip, lease, trusted, need)
			}
		}
	}
}
