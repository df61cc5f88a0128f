package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// startWithout starts a pool from which protections are taken out.
func startWithout(t testing.TB, p *Pool, out ...without.Protection) {
	t.Helper()
	if err := p.Start(without.With(context.Background(), out...)); err != nil {
		t.Fatal(err)
	}
}

// outOrNot runs a test with all protections, and without one.
func outOrNot(t *testing.T, protection without.Protection, test func(t *testing.T, out ...without.Protection)) {
	t.Run("with "+string(protection), func(t *testing.T) { t.Parallel(); test(t) })
	t.Run("without "+string(protection), func(t *testing.T) { t.Parallel(); test(t, protection) })
}

// A worker is frozen past its lease, another process has the job, then the first one's
// handler returns.
func TestZombiesCompletionCountsOnlyWithoutFencing(t *testing.T) {
	t.Parallel()
	outOrNot(t, without.Fencing, func(t *testing.T, out ...without.Protection) {
		q := openQueue(t)
		first, second := newGate(t), newGate(t)
		leases, o := make(chan queue.Lease, 2), Options{Lease: time.Second}
		handlers := on(func(ctx context.Context, job *queue.Job) error {
			leases <- job.Lease()
			if job.Attempts == 1 {
				return first.wait(ctx)
			}
			return second.wait(ctx)
		})
		frozen, fresh := newPool(t, q, handlers, o), newPool(t, q, handlers, o)
		startWithout(t, frozen, out...)
		zombie := spawn(t, frozen, 1, "q")
		id := enqueue(t, q, queue.NewJob{})[0]
		stale := receive(t, "the first claim", leases)
		if err := frozen.Freeze(zombie); err != nil {
			t.Fatal(err)
		}
		startWithout(t, fresh, out...)
		spawn(t, fresh, 1, "q")
		receive(t, "the second claim", leases)

		beat, err := q.Heartbeat(t.Context(), []queue.Renewal{{Lease: stale, For: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		first.open() // the second one's handler still runs
		if len(out) > 0 {
			if len(beat.Renewed) != 1 {
				t.Errorf("a heartbeat for the stale claim renewed %v, want the new claim's lease", beat.Renewed)
			}
			if job := waitStatus(t, frozen, id, queue.Completed); job.Attempts != 2 {
				t.Errorf("attempts %d, want the second claim's", job.Attempts)
			}
			waitUntil(t, frozen, "the zombie's completion to count", func() bool { return frozen.workerNamed(t, zombie).Completed == 1 })
			if frozen.Fenced() != 0 {
				t.Error("it was fenced all the same")
			}
			return
		}
		if len(beat.Renewed) != 0 {
			t.Errorf("a heartbeat for the stale claim renewed %v", beat.Renewed)
		}
		waitFor(t, frozen, StaleFenced)
		if job := get(t, q, id); job.Status != queue.Processing {
			t.Errorf("the zombie left the job %s", job.Status)
		}
		second.open()
		waitStatus(t, fresh, id, queue.Completed)
	})
}

// The zombie's own transaction completes the job of the claim after its own.
func TestZombiesTransactionCommitsOnlyWithoutFencing(t *testing.T) {
	t.Parallel()
	outOrNot(t, without.Fencing, func(t *testing.T, out ...without.Protection) {
		q := openQueue(t)
		l := newLedger(t, q)
		first, second := newGate(t), newGate(t)
		inside, o := make(chan struct{}, 2), Options{Lease: time.Second}
		handlers := on(func(ctx context.Context, job *queue.Job) error {
			inside <- struct{}{}
			if job.Attempts == 2 {
				return second.wait(ctx)
			}
			return errors.Join(first.wait(ctx), l.effect(ctx, job))
		})
		frozen, fresh := newPool(t, q, handlers, o), newPool(t, q, handlers, o)
		startWithout(t, frozen, out...)
		zombie := spawn(t, frozen, 1, "q")
		id := enqueue(t, q, queue.NewJob{})[0]
		receive(t, "the first run", inside)
		if err := frozen.Freeze(zombie); err != nil {
			t.Fatal(err)
		}
		startWithout(t, fresh, out...)
		spawn(t, fresh, 1, "q")
		receive(t, "the second run", inside)
		first.open()
		want := 0
		if len(out) > 0 {
			want = 1
			waitUntil(t, frozen, "the zombie's completion to count", func() bool { return frozen.workerNamed(t, zombie).Completed == 1 })
		} else {
			waitFor(t, frozen, StaleFenced)
		}
		if n := l.effects(t, id); n != want {
			t.Errorf("the zombie had %d effects, want %d", n, want)
		}
	})
}

// A worker dies. That its lease ran out helps nobody unless somebody takes the job back.
func TestJobStaysInProcessingOnlyWithoutReclaim(t *testing.T) {
	t.Parallel()
	outOrNot(t, without.Reclaim, func(t *testing.T, out ...without.Protection) {
		q := openQueue(t)
		g := newGate(t)
		p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: time.Second})
		startWithout(t, p, out...)
		victim := spawn(t, p, 1, "q")
		id := enqueue(t, q, queue.NewJob{})[0]
		waitBegan(t, p, 1)
		if err := p.Kill(victim); err != nil {
			t.Fatal(err)
		}
		g.open()
		spawn(t, p, 1, "q")
		if len(out) == 0 {
			waitFor(t, p, ReapedBack)
			waitStatus(t, p, id, queue.Completed)
			return
		}
		until(t, q, 1, "SELECT count(*) FROM leasetop.jobs WHERE id = $1 AND status = 'processing' AND lease_expires_at < now() - interval '1 s'", id)
		if has(p, ReapedBack) {
			t.Error("it was taken back all the same")
		}
	})
}

// A worker loses its network, and another process gets its job.
func TestPartitionedHandlerRunsBesideTheNextOnlyWithoutTrust(t *testing.T) {
	t.Parallel()
	outOrNot(t, without.Trust, func(t *testing.T, out ...without.Protection) {
		url := testdb.New(t)
		near := openAt(t, url, nil)
		net := newRelay(t, 0, 0)
		far := openAt(t, url, net.through)
		first, ended, again := make(chan context.Context, 1), make(chan error, 1), newGate(t)
		second := make(chan struct{}, 1)
		handlers := on(func(ctx context.Context, job *queue.Job) error {
			if job.Attempts == 1 {
				first <- ctx
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return ctx.Err()
			}
			second <- struct{}{}
			return again.wait(ctx)
		})
		o := Options{Lease: 3 * time.Second, Margin: time.Second}
		cut, fresh := newPool(t, far, handlers, o), newPool(t, near, handlers, o)
		startWithout(t, cut, out...)
		spawn(t, cut, 1, "q")
		id := enqueue(t, near, queue.NewJob{})[0]
		handler := receive(t, "the first run", first)
		net.stall()
		startWithout(t, fresh, out...)
		spawn(t, fresh, 1, "q")
		receive(t, "the second run", second)
		if goesOn, want := handler.Err() == nil, len(out) > 0; goesOn != want {
			t.Errorf("the first handler may go on beside the second: %v, want %v", goesOn, want)
		}
		net.resume()
		want := ErrTrustEnded
		if len(out) > 0 {
			want = queue.ErrLeaseLost // a heartbeat may still find out
		}
		if cause := receive(t, "the first handler's end", ended); !errors.Is(cause, want) {
			t.Errorf("the first handler was cancelled because of %v, want %v", cause, want)
		}
		again.open()
		waitStatus(t, fresh, id, queue.Completed)
	})
}
