package workers

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestQueuesAreClaimedInStrictOrder(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	var mu sync.Mutex
	var order []string
	h := NewHandlers()
	for _, name := range []string{"high", "low"} {
		h.Queue(name, func(_ context.Context, job *queue.Job) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, job.Queue)
			return nil
		})
	}
	const each = 100 // enough that a slot becomes free before a round of claims ends
	enqueue(t, q, many(each, queue.NewJob{Queue: "low"})...)
	enqueue(t, q, many(each, queue.NewJob{Queue: "high"})...)
	p := newPool(t, q, h, Options{})
	spawn(t, p, 1, "high", "low")
	start(t, p)
	waitDone(t, p)
	if first := slices.Index(order, "low"); first != each || len(order) != 2*each {
		t.Errorf("%d done, the first of low after %d of high; want %d, %d", len(order), first, 2*each, each)
	}
}

// The planner believes the table to be empty: nothing then keeps a claim to its
// limit but the form of the statement.
func TestClaimsNeverExceedSlotsWithStaleStatistics(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, "ALTER TABLE leasetop.jobs SET (autovacuum_enabled = false)")
	exec(t, q, "ANALYZE leasetop.jobs")
	exec(t, q, "INSERT INTO leasetop.jobs (queue) SELECT 'q' FROM generate_series(1, 50000)")
	exec(t, q, "ALTER ROLE CURRENT_USER IN DATABASE "+q.Pool().Config().ConnConfig.Database+" SET enable_hashjoin = off")
	q.Pool().Reset()
	var done atomic.Int64
	var inside overlaps
	processing := func() int {
		return count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'processing'")
	}
	p := startPool(t, q, on(func(context.Context, *queue.Job) error {
		inside.enter()
		defer inside.leave()
		if n := processing(); n > 1 {
			t.Errorf("%d jobs in processing with one slot", n)
		}
		done.Add(1)
		return nil
	}), Options{}, 1)
	waitUntil(t, p, "100 jobs", func() bool { return done.Load() >= 100 })
	if most := inside.most.Load(); most != 1 {
		t.Errorf("%d handlers ran at once with one slot", most)
	}
}

func TestSlotsRunJobsAtOnce(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	together := make(chan struct{}, 3)
	h := on(func(ctx context.Context, _ *queue.Job) error {
		together <- struct{}{}
		for len(together) < cap(together) { // only ends when all three are here
			if !sleep(ctx, time.Millisecond) {
				return context.Cause(ctx)
			}
		}
		return nil
	})
	enqueue(t, q, many(3, queue.NewJob{})...)
	p := startPool(t, q, h, Options{}, 0)
	spawn(t, p, 3, "q")
	waitDone(t, p)
}

func TestScheduledJobStartsWithoutPolling(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	id := enqueue(t, q, queue.NewJob{Delay: 400 * time.Millisecond})[0]
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	spawn(t, p, 1, "q")
	start(t, p)
	waitStatus(t, p, id, queue.Completed)
}

func TestRetryStartsWithoutPolling(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	h := on(func(_ context.Context, job *queue.Job) error {
		if job.Attempts < 3 {
			return context.DeadlineExceeded
		}
		return nil
	}, WithBackoff(func(int) time.Duration { return 50 * time.Millisecond }))
	p := startPool(t, q, h, Options{PollMin: never, PollMax: never}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 3 || len(job.Errors) != 2 {
		t.Errorf("attempts %d, history %v", job.Attempts, job.Errors)
	}
}

// Nobody announces that a lock was released.
func TestDueJobThatWasLockedStartsWithoutPolling(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	id := enqueue(t, q, queue.NewJob{})[0]
	tx, err := q.Pool().Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "SELECT FROM leasetop.jobs FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	idle := p.signals.idle.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	for range 3 { // the wake-ups of the start are used up
		receive(t, "the worker to find nothing", idle)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitStatus(t, p, id, queue.Completed)
}

func TestClaimLatencyIsMeasured(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(nothing), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitStatus(t, p, id, queue.Completed)
	if l := p.ClaimLatency(); l.Count == 0 || l.P50 <= 0 || l.P99 < l.P50 {
		t.Errorf("claim latency %+v", l)
	}
}
