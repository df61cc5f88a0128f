package workers

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

const expiringIn = `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
	VALUES ('q', 'processing', 1, 'gone#1', now(), clock_timestamp() + make_interval(secs => $1)) RETURNING id`

// expiring makes a lease that runs out in so long, and returns its job.
func expiring(t *testing.T, q *queue.Queue, in time.Duration) (id int64) {
	t.Helper()
	if err := q.Pool().QueryRow(t.Context(), expiringIn, in.Seconds()).Scan(&id); err != nil {
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

// While the database does not answer, the reaper is kept from its work, though nothing fails.
func TestReclaimOfALeaseThatRanOutBeforeAnAnswerWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	looked := p.signals.looked.listen()
	start(t, p)
	receive(t, "a look", looked)
	tx := begin(t, q)
	within(t, tx, "LOCK TABLE leasetop.jobs IN ACCESS EXCLUSIVE MODE")
	var id int64
	if err := tx.QueryRow(t.Context(), expiringIn, 0.1).Scan(&id); err != nil {
		t.Fatal(err)
	}
	for waiting := false; !waiting; {
		if err := tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'leasetop.jobs'::regclass)`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	within(t, tx, "SELECT pg_sleep($1)", (2 * heldUp).Seconds())
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if watched(t, p, id) {
		t.Error("nobody could see that it ran out")
	}
	if !watched(t, p, expiring(t, q, 500*time.Millisecond)) {
		t.Error("now that it answers leases are not watched")
	}
}

// What is locked when it runs out cannot be taken back in time by anybody.
func TestReclaimOfALeaseThatWasLockedWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	looked := p.signals.looked.listen()
	start(t, p)
	receive(t, "a look", looked)
	id := expiring(t, q, 500*time.Millisecond)
	tx := begin(t, q)
	within(t, tx, "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", id)
	for expired := false; !expired; {
		receive(t, "a look", looked)
		if err := tx.QueryRow(t.Context(), "SELECT lease_expires_at < clock_timestamp() FROM leasetop.jobs WHERE id = $1", id).Scan(&expired); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // one of them has begun since
		receive(t, "a look", looked)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if watched(t, p, id) {
		t.Error("it was locked when it ran out")
	}
}

// begin begins a transaction, which locks at least until the test commits it.
func begin(t *testing.T, q *queue.Queue) pgx.Tx {
	t.Helper()
	tx, err := q.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

func within(t *testing.T, tx pgx.Tx, statement string, args ...any) {
	t.Helper()
	if _, err := tx.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func TestVigilIsKeptBetweenTroubles(t *testing.T) {
	t.Parallel()
	var v vigil
	var slept atomic.Int64
	clock := func() time.Duration { return monotonic() + time.Duration(slept.Load()) }
	saw := func(moment time.Duration) bool { return v.saw(moment, moment) }
	if saw(clock()) {
		t.Error("nobody watched yet")
	}
	v.keep(clock())
	first := clock()
	v.keep(clock())
	if !saw(first) || saw(first-time.Minute) {
		t.Error("want it kept from the first look on, and not before")
	}
	slept.Add(int64(time.Minute)) // of the machine
	v.keep(clock())
	if saw(first+time.Second) || !saw(clock()) {
		t.Error("it was kept while the machine slept")
	}
	v.end()
	if saw(clock()) {
		t.Error("it was kept in trouble")
	}
	again := clock()
	v.keep(clock())
	if saw(again-time.Nanosecond) || !saw(clock()) {
		t.Error("want it kept anew after the trouble, and not before")
	}
	v.waited(heldUp - 1)
	if !saw(clock()) {
		t.Error("no answer comes at once")
	}
	v.waited(heldUp)
	if saw(clock()) {
		t.Error("it was kept while nobody answered")
	}
	v.keep(clock())
	sent := clock()
	v.sweep(sent)
	if v.saw(sent-1, sent-1) || !v.saw(sent-1, sent) {
		t.Error("what a sweep left was locked")
	}
}
