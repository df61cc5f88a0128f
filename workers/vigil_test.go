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

// reaping is a reaper that is told when to look, by clocks that go on when they are told.
type reaping struct {
	t     *testing.T
	p     *Pool
	again pace
	boot  atomic.Int64
	awake atomic.Int64
}

func newReaping(t *testing.T, q *queue.Queue) *reaping {
	t.Helper()
	r := &reaping{t: t, p: newPool(t, q, on(nothing), Options{})}
	r.again = pace{min: time.Second, max: time.Second}
	r.p.clock = func() time.Duration { return time.Duration(r.boot.Load()) }
	r.p.vigil.awake = func() time.Duration { return time.Duration(r.awake.Load()) }
	return r
}

// pass has some time pass.
func (r *reaping) pass(d time.Duration) {
	r.boot.Add(int64(d))
	r.awake.Add(int64(d))
}

func (r *reaping) look() { r.p.reaperLooks(r.t.Context(), &r.again) }

// An hour is more than a test takes: however slow the machine, what ran out longAgo did so
// after a look that was before longer.
const (
	longAgo = time.Hour
	longer  = 2 * longAgo
)

// want looks, and then says whether the lease of a job must have been watched.
func (r *reaping) want(id int64, watched bool, why string) {
	r.t.Helper()
	r.look()
	r.tells(id, watched, why)
}

func (r *reaping) tells(id int64, watched bool, why string) {
	r.t.Helper()
	events, _ := r.p.Events(0)
	for _, e := range events {
		if e.What != ReapedBack || e.JobID != id {
			continue
		}
		if e.Watched != watched {
			r.t.Errorf("%s: watched is %v", why, e.Watched)
		}
		return
	}
	r.t.Fatalf("%s: job %d was not taken back", why, id)
}

// Whoever was dead by then cannot have been late.
func TestReclaimOfALeaseThatRanOutBeforeTheStartWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	r := newReaping(t, q)
	r.want(expiring(t, q, -longAgo), false, "it ran out before the reaper was there")
	r.pass(longer)
	r.want(expiring(t, q, -longAgo), true, "it ran out under the reaper's eyes")
}

// Nor is it the reaper's fault when the database is down.
func TestReclaimOfALeaseThatRanOutInAnOutageWasNotWatched(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := openAt(t, testdb.On(t, server), nil)
	r := newReaping(t, q)
	r.look()
	r.pass(longer)
	if err := server.Halt(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	r.look()
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	q.Pool().Reset()
	r.want(expiring(t, q, -longAgo), false, "nobody could watch in the outage")
	r.pass(longer)
	r.want(expiring(t, q, -longAgo), true, "the outage is over")
}

// Without heartbeats the reaper does not even try.
func TestReaperKeepsNoVigilWhileTheHeartHasNoConnection(t *testing.T) {
	t.Parallel()
	r := newReaping(t, openQueue(t))
	r.look()
	if !r.p.vigil.kept {
		t.Fatal("no vigil is kept after a look")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.p.reap(ctx) // which waits for the heart, until ctx ends
	if r.p.vigil.kept {
		t.Error("a vigil is kept, though the reaper waits for heartbeats")
	}
}

// While the database does not answer, the reaper is kept from its work, though nothing fails.
func TestReclaimOfALeaseThatRanOutBeforeALateAnswerWasNotWatched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late    time.Duration
		watched bool
	}{{RecoveryBound - 1, true}, {RecoveryBound, false}} {
		t.Run(c.late.String(), func(t *testing.T) {
			t.Parallel()
			q := openQueue(t)
			r := newReaping(t, q)
			r.look()
			r.pass(longer)
			tx := begin(t, q)
			within(t, tx, "LOCK TABLE leasetop.jobs IN ACCESS EXCLUSIVE MODE")
			var id int64
			if err := tx.QueryRow(t.Context(), expiringIn, -longAgo.Seconds()).Scan(&id); err != nil {
				t.Fatal(err)
			}
			looked := make(chan struct{})
			go func() { r.look(); close(looked) }()
			for waiting := false; !waiting; {
				if err := tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'leasetop.jobs'::regclass)`).Scan(&waiting); err != nil {
					t.Fatal(err)
				}
			}
			r.pass(c.late)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			receive(t, "the look", looked)
			r.tells(id, c.watched, "an answer came "+c.late.String()+" late")
			r.pass(longer)
			r.want(expiring(t, q, -longAgo), true, "it answers")
		})
	}
}

// A reaper that overslept was not at work.
func TestReclaimOfALeaseThatRanOutWhileTheReaperOversleptWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	r := newReaping(t, q)
	for _, late := range []time.Duration{RecoveryBound - 1, RecoveryBound} {
		r.look()
		asked := false
		clock := r.p.clock
		r.p.clock = func() time.Duration { // first when to wake, then when it woke
			if asked {
				r.pass(late)
			}
			asked = true
			return clock()
		}
		r.p.reaperSleeps(t.Context(), 0)
		r.p.clock = clock
		if kept := late < RecoveryBound; r.p.vigil.kept != kept {
			t.Errorf("%v late: kept is %v", late, r.p.vigil.kept)
		}
	}
	r.pass(longer)
	r.want(expiring(t, q, -longAgo), false, "the reaper overslept")
}

// What is locked when it runs out cannot be taken back in time by anybody.
func TestReclaimOfALeaseThatWasLockedWasNotWatched(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	r := newReaping(t, q)
	r.look()
	r.pass(longer)
	id, free := expiring(t, q, -longAgo), expiring(t, q, -longAgo)
	tx := begin(t, q)
	within(t, tx, "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", id)
	r.want(free, true, "nobody locked it")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.want(id, false, "it was locked when it ran out")
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
	var now, slept time.Duration
	v := vigil{awake: func() time.Duration { return now - slept }}
	saw := func(moment time.Duration) bool { return v.saw(moment, moment) }
	if saw(now) {
		t.Error("nobody watched yet")
	}
	v.keep(now)
	now++
	v.keep(now)
	if !saw(0) || saw(-1) {
		t.Error("want it kept from the first look on, and not before")
	}
	for _, sleep := range []time.Duration{sleptAtLeast - 1, sleptAtLeast} {
		before := now
		now += time.Minute
		slept += sleep
		v.keep(now)
		if kept := sleep < sleptAtLeast; saw(before) != kept || !saw(now) {
			t.Errorf("the machine slept for %v: saw is %v", sleep, saw(before))
		}
	}
	v.end()
	if saw(now) {
		t.Error("it was kept in trouble")
	}
	v.keep(now)
	if saw(now-1) || !saw(now) {
		t.Error("want it kept anew after the trouble, and not before")
	}
	v.waited(RecoveryBound - 1)
	if !saw(now) {
		t.Error("no answer comes at once")
	}
	v.waited(RecoveryBound)
	if saw(now) {
		t.Error("it was kept while nobody answered")
	}
	v.keep(now)
	now++
	v.sweep(now)
	if v.saw(now-1, now-1) || !v.saw(now-1, now) {
		t.Error("what a sweep left was locked")
	}
}
