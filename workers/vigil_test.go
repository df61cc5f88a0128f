package workers

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// expiring makes a lease that runs out in so long, and returns its job.
func expiring(t *testing.T, q *queue.Queue, in time.Duration) (id int64) {
	t.Helper()
	if err := q.Pool().QueryRow(t.Context(), `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		VALUES ('q', 'processing', 1, 'gone#1', now(), now() + make_interval(secs => $1)) RETURNING id`, in.Seconds()).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// watched waits for the reclaim of a job and says whether the reaper watched its lease.
func watched(t *testing.T, p *Pool, id int64) bool {
	t.Helper()
	return waitFor(t, p, ReapedBack, func(e Event) bool { return e.JobID == id }).Watched
}

// Whoever was dead by then cannot have been late.
func TestReclaimOfALeaseThatRanOutBeforeTheStartWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	old := expiring(t, q, -time.Minute)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	looked := p.signals.looked.listen()
	start(t, p)
	if watched(t, p, old) {
		t.Error("it ran out a minute before the pool was there")
	}
	receive(t, "a look", looked)
	if !watched(t, p, expiring(t, q, 500*time.Millisecond)) {
		t.Error("a lease that ran out under the reaper's eyes was not watched")
	}
}

// Nor is it the reaper's fault when the database is down.
func TestReclaimOfALeaseThatRanOutInAnOutageWasNotWatched(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := openAt(t, testdb.On(t, server), nil)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	looked, beats := p.signals.looked.listen(), p.signals.beat.listen()
	start(t, p)
	receive(t, "a look", looked)
	ends := time.Now().Add(1500 * time.Millisecond)
	id := expiring(t, q, time.Until(ends))
	if err := server.Halt(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	for time.Now().Before(ends) {
		receive(t, "a try to connect", beats)
	}
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	q.Pool().Reset()
	if watched(t, p, id) {
		t.Error("nobody could watch in the outage")
	}
	if !watched(t, p, expiring(t, q, 1500*time.Millisecond)) {
		t.Error("after the outage leases are not watched")
	}
}

func TestVigilIsKeptBetweenTroubles(t *testing.T) {
	t.Parallel()
	var v vigil
	var slept atomic.Int64
	clock := func() time.Duration { return monotonic() + time.Duration(slept.Load()) }
	if v.saw(clock()) {
		t.Error("nobody watched yet")
	}
	v.keep(clock())
	first := clock()
	v.keep(clock())
	if !v.saw(first) || v.saw(first-time.Minute) {
		t.Error("want it kept from the first look on, and not before")
	}
	slept.Add(int64(time.Minute)) // of the machine
	v.keep(clock())
	if v.saw(first+time.Second) || !v.saw(clock()) {
		t.Error("it was kept while the machine slept")
	}
	v.end()
	if v.saw(clock()) {
		t.Error("it was kept in trouble")
	}
	again := clock()
	v.keep(clock())
	if v.saw(again-time.Nanosecond) || !v.saw(clock()) {
		t.Error("want it kept anew after the trouble, and not before")
	}
}
