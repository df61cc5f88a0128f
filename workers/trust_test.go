package workers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// The network holds everything back. The worker must have stopped its handler
// while the database still says that the job is its own.
func TestUnreachableDatabaseEndsTrustBeforeTheLease(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	near := openAt(t, url, nil)
	net := newRelay(t, 0, 0)
	far := openAt(t, url, net.through)
	type end struct {
		cause error
		left  float64 // of the lease, by the database's clock
	}
	ends := make(chan end, 2)
	p := startPool(t, far, on(func(ctx context.Context, job *queue.Job) error {
		<-ctx.Done()
		var left float64
		err := near.Pool().QueryRow(context.Background(),
			"SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::float8 FROM leasetop.jobs WHERE id = $1", job.ID).Scan(&left)
		ends <- end{errors.Join(context.Cause(ctx), err), left}
		return ctx.Err()
	}), Options{Lease: 3 * time.Second, Margin: time.Second}, 1)
	id := enqueue(t, near, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	net.stall()
	got := receive(t, "the end of trust", ends)
	if !errors.Is(got.cause, ErrTrustEnded) {
		t.Errorf("cancelled because of %v, want ErrTrustEnded", got.cause)
	}
	if got.left <= 0 {
		t.Errorf("the handler was stopped %v s after its lease had ended", -got.left)
	}
	if e := waitFor(t, p, TrustEnded); e.JobID != id {
		t.Errorf("the event is about job %d", e.JobID)
	}
	net.resume()
	waitUntil(t, p, "the reclaimed job at work again", func() bool { return get(t, near, id).Attempts == 2 })
}

// The machine sleeps past the lease: no timer runs, no heartbeat is sent. One that is due
// when it wakes may come before the look at the clock, and rightly renews a lease that is
// still there; here it does not get through.
func TestSleepOfTheMachineEndsTrust(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	near := openAt(t, url, nil)
	net := newRelay(t, 0, 0)
	causes := make(chan error, 1)
	inside := make(chan struct{}, 1)
	p := newPool(t, openAt(t, url, net.through), on(func(ctx context.Context, job *queue.Job) error {
		inside <- struct{}{}
		return untilCancelled(causes)(ctx, job)
	}), Options{Lease: time.Minute})
	var slept atomic.Int64
	p.clock = func() time.Duration { return bootClock() + time.Duration(slept.Load()) }
	start(t, p)
	spawn(t, p, 1, "q")
	enqueue(t, near, queue.NewJob{})
	receive(t, "the handler", inside)
	net.stall()
	slept.Store(int64(2 * time.Minute))
	if cause := receive(t, "the end of trust", causes); !errors.Is(cause, ErrTrustEnded) {
		t.Errorf("cancelled because of %v, want ErrTrustEnded", cause)
	}
	net.resume()
	waitUntil(t, p, "the end of the run", func() bool { return p.Workers()[0].State == Idle })
}

// The answer to the claim comes when its trust has all but ended.
func TestLateClaimIsRenewedBeforeItIsTrusted(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	var ran atomic.Bool
	p := newPool(t, q, on(func(context.Context, *queue.Job) error { ran.Store(true); return nil }), Options{Lease: time.Minute})
	beats := p.signals.beat.listen()
	w := newWorker(p, "late", []string{"q"}, 1)
	p.base = context.Background()
	id := enqueue(t, q, queue.NewJob{})[0]
	jobs, err := q.Claim(context.Background(), queue.ClaimRequest{Queue: "q", Owner: w.nextToken(), Lease: time.Minute, Limit: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	exec(t, q, "UPDATE leasetop.jobs SET lease_expires_at = now() WHERE id = $1", id) // and the lease itself has
	now := p.clock()
	w.accept(jobs, time.Minute, now-time.Minute, now)
	waitUntil(t, p, "the run", func() bool { return len(w.runs) == 1 })
	if ran.Load() {
		t.Error("the handler ran on a lease that is not trusted")
	}
	p.base = nil
	start(t, p) // and with it the heartbeats
	if err := receive(t, "the renewal", beats); err != nil {
		t.Fatal(err)
	}
	waitStatus(t, p, id, queue.Completed)
	if !ran.Load() {
		t.Error("the handler never ran")
	}
}

// The wall clock is ten minutes off and jumps: nothing but labels may follow it.
func TestForeignClocksChangeNothing(t *testing.T) {
	t.Parallel()
	for name, wall := range map[string]func(n int64) time.Duration{
		"ahead":   func(int64) time.Duration { return 10 * time.Minute },
		"behind":  func(int64) time.Duration { return -10 * time.Minute },
		"jumping": func(n int64) time.Duration { return time.Duration(n%3-1) * 10 * time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := openQueue(t)
			l := newLedger(t, q)
			const lease = 3 * time.Second // a busy machine may hold heartbeats up for a second
			h := on(func(ctx context.Context, job *queue.Job) error {
				if job.Kind == "long" && !sleep(ctx, lease+lease/2) {
					return context.Cause(ctx)
				}
				return l.effect(ctx, job)
			})
			p := newPool(t, q, h, Options{Lease: lease})
			var calls atomic.Int64
			p.wall = func() time.Time { return time.Now().Add(wall(calls.Add(1))) }
			start(t, p)
			spawn(t, p, 2, "q")
			ids := enqueue(t, q, queue.NewJob{Kind: "long"}, queue.NewJob{Delay: 300 * time.Millisecond}, queue.NewJob{})
			for _, id := range ids {
				job := waitStatus(t, p, id, queue.Completed)
				if job.Attempts != 1 || l.effects(t, id) != 1 {
					t.Errorf("job %d: attempts %d, %d effects, want 1 and 1", id, job.Attempts, l.effects(t, id))
				}
			}
			for _, what := range []What{TrustEnded, LeaseLost, StaleFenced, ReapedBack} {
				if has(p, what) {
					t.Errorf("an event says: %s", what)
				}
			}
			p.Stop(context.Background())
		})
	}
}

// A screen learns of it without asking again and again.
func TestHeartbeatIsAChangeAndALeaseOutlastsItsTrust(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	inside, g := make(chan struct{}), newGate(t)
	p := startPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
		close(inside)
		return g.wait(ctx)
	}), Options{Lease: 2 * time.Second, Margin: time.Second}, 1)
	enqueue(t, q, queue.NewJob{})
	receive(t, "the handler", inside)
	running := func() Running { return p.workerNamed(t, "w1").Running[0] }
	first := running()
	if lasts := first.Expires.Sub(first.Trust); lasts < time.Second {
		t.Errorf("the lease has run out %v after its trust has ended, before the margin is over", lasts)
	}
	for {
		changed := p.Changed()
		if now := running(); now.Trust.Sub(first.Trust) > 100*time.Millisecond {
			if !now.Expires.After(first.Expires) {
				t.Errorf("it was renewed and expires at %v, before at %v", now.Expires, first.Expires)
			}
			break
		}
		receive(t, "a change", changed)
	}
	g.open()
}
