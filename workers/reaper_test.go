package workers

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestTwentyReapersReclaimEachExpiredLeaseOnce(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	const expired = 5000
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		SELECT 'abandoned', 'processing', 1 + n % 5, 'gone#' || n, now() - interval '2 min', now() - interval '1 min'
		FROM generate_series(1, $1) n`, expired)
	var mu sync.Mutex
	reaped := map[int64]int{}
	var all sync.WaitGroup
	all.Add(expired)
	var pools []*Pool
	for range 20 {
		p := newPool(t, q, on(nothing), Options{Events: func(e Event) {
			if e.What != ReapedBack && e.What != ReapedDead {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if reaped[e.JobID]++; reaped[e.JobID] == 1 {
				all.Done()
			}
		}})
		pools = append(pools, p)
	}
	for _, p := range pools {
		start(t, p)
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	receive(t, "all leases reclaimed", done)
	mu.Lock()
	defer mu.Unlock()
	for id, n := range reaped {
		if n != 1 {
			t.Errorf("job %d was reclaimed %d times", id, n)
		}
	}
	if dead := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'dead'"); dead != expired/5 {
		t.Errorf("%d are dead, want %d", dead, expired/5)
	}
	if twice := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'processing' OR jsonb_array_length(errors) <> 1"); twice != 0 {
		t.Errorf("%d jobs are still in processing, or have more than one history entry", twice)
	}
}

// The reaper knows when the lease will run out and is there, not at its next round.
func TestReaperWakesAtTheExpiryItKnows(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		VALUES ('q', 'processing', 1, 'gone#1', now(), now() + interval '700 ms')`)
	// A round would come after twenty minutes.
	p := startPool(t, q, on(nothing), Options{Lease: time.Hour, PollMin: never, PollMax: never}, 1)
	e := waitFor(t, p, ReapedBack)
	t.Logf("reclaimed %v after expiry", e.Late)
	waitStatus(t, p, e.JobID, queue.Completed) // and wakes a worker of this process
}

// What others hold is theirs to take back: the row stays byte for byte as it is.
func TestReaperKeepsToItsQueues(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		SELECT queue, 'processing', 1, 'gone#' || queue, now(), now() - interval '1 s' FROM unnest(ARRAY['theirs', 'ours', 'ours too']) AS queue`)
	before := row(t, q, 1)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second, Reaps: []string{"ours", "ours too"}})
	looked := p.signals.looked.listen()
	start(t, p)
	for _, id := range []int64{2, 3} {
		waitFor(t, p, ReapedBack, func(e Event) bool { return e.JobID == id })
	}
	for range 3 {
		receive(t, "another look", looked)
	}
	if after := row(t, q, 1); after != before {
		t.Errorf("the lease of another queue was taken back: %s", after)
	}
}

// Nobody's leases is no more what an empty list means than everybody's.
func TestReaperOfNoQueuesIsRefused(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	if _, err := New(q, on(nothing), Options{Reaps: []string{}}); err == nil || !strings.Contains(err.Error(), "Reaps nil for all") {
		t.Errorf("%v, want it refused with the cure", err)
	}
	newPool(t, q, on(nothing), Options{Reaps: nil})
}

// Expired, but its row is locked: the reaper neither waits for it nor spins.
func TestReaperPassesOverLockedRows(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		SELECT 'other', 'processing', 1, 'gone#1', now(), now() - interval '1 s' FROM generate_series(1, 2)`)
	tx, err := q.Pool().Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "SELECT FROM leasetop.jobs WHERE id = 1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	looked := p.signals.looked.listen()
	start(t, p)
	if e := waitFor(t, p, ReapedBack); e.JobID != 2 {
		t.Errorf("job %d was reclaimed under its lock", e.JobID)
	}
	for range 3 {
		receive(t, "another look", looked)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, p, ReapedBack, func(e Event) bool { return e.JobID == 1 })
}

// A lease that is locked for long keeps the reaper from no other.
func TestReaperWaitsForTheNextExpiryBesideALockedOne(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{})
	stuck := expiring(t, q, -time.Minute)
	within(t, begin(t, q), "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", stuck)
	again := pace{min: 4 * time.Hour, max: 4 * time.Hour}
	if wait, err := p.reapDue(t.Context(), &again); err != nil || wait < 3*time.Hour {
		t.Errorf("beside no other: waits %v, %v", wait, err)
	}
	expiring(t, q, time.Hour)
	if wait, err := p.reapDue(t.Context(), &again); err != nil || wait > time.Hour+expirySpread {
		t.Errorf("beside one that runs out in an hour: waits %v, %v", wait, err)
	}
}
