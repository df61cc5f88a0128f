package queue

import (
	"testing"
	"time"
)

// openAt returns a queue whose database has a clock of its own: what the
// statements call now() and clock_timestamp() is shifted by set. Every other
// clock, this process's among them, stays.
func openAt(t *testing.T) (q *Queue, set func(shift time.Duration)) {
	t.Helper()
	q = openWith(t, 4)
	exec(t, q, `create schema fake;
		create table fake.shift (by interval);
		insert into fake.shift values ('0');
		create function fake.by() returns interval language plpgsql stable as 'begin return (select by from fake.shift); end';
		create function fake.clock() returns timestamptz language internal as 'clock_timestamp'`)
	stand(t, q, "now() returns timestamptz stable", "transaction_timestamp() + fake.by()")
	stand(t, q, "clock_timestamp() returns timestamptz", "fake.clock() + fake.by()")
	return q, func(shift time.Duration) {
		t.Helper()
		exec(t, q, "update fake.shift set by = $1", shift)
	}
}

// about tells whether two durations differ by no more than a slow machine explains.
func about(got, want time.Duration) bool { return (got - want).Abs() < 30*time.Second }

// CASES "Foreign clocks": this process's clock runs ten minutes, or years, before or
// behind the database's. No operation notices.
func TestForeignClocks(t *testing.T) {
	t.Parallel()
	for _, shift := range []time.Duration{-10 * time.Minute, 10 * time.Minute, -20 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		t.Run(shift.String(), func(t *testing.T) {
			t.Parallel()
			q, set := openAt(t)
			set(shift)
			now := enqueue(t, q, NewJob{Kind: "now"})
			later := enqueue(t, q, NewJob{Kind: "later", Delay: 5 * time.Minute})
			if in, found, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || !found || in > 0 || !about(in, 0) {
				t.Errorf("next due in %v, %v, %v", in, found, err)
			}
			depth := must[Depths](t)(q.Depth(t.Context(), 0))
			if d := depth.Queues[0]; d.Ready != 1 || d.Scheduled != 1 || !about(d.OldestReady, 0) || !about(time.Until(depth.At), shift) {
				t.Errorf("at %v: depth %+v", depth.At, d)
			}
			job := claim(t, q, 2*time.Minute)
			if job.ID != now || !about(time.Until(*job.LeaseExpiresAt), shift+2*time.Minute) {
				t.Errorf("claimed job %d until %v", job.ID, job.LeaseExpiresAt)
			}
			if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
				t.Errorf("claimed %v before its time", jobs)
			}
			if in, _, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || !about(in, 5*time.Minute) {
				t.Errorf("next due in %v, %v", in, err)
			}
			if in, _, err := q.NextExpiry(t.Context()); err != nil || !about(in, 2*time.Minute) {
				t.Errorf("next expiry in %v, %v", in, err)
			}
			if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 0 {
				t.Errorf("reclaimed %v in its lease", taken)
			}
			must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: job.Lease(), For: 10 * time.Minute}}))
			if in, _, err := q.NextExpiry(t.Context()); err != nil || !about(in, 10*time.Minute) {
				t.Errorf("after a beat, next expiry in %v, %v", in, err)
			}
			must[Status](t)(q.Retry(t.Context(), job.Lease(), "x", 3*time.Minute))
			if in, _, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || !about(in, 3*time.Minute) {
				t.Errorf("after a retry, next due in %v, %v", in, err)
			}

			// The database's time passes.
			set(shift + 6*time.Minute)
			jobs := take(t, q, "emails", 10)
			if len(jobs) != 2 || jobs[0].ID != now || jobs[1].ID != later {
				t.Fatalf("six minutes later, claimed %v", jobs)
			}
			must[Status](t)(q.Snooze(t.Context(), jobs[0].Lease(), time.Minute))
			ok(t, q.Bury(t.Context(), jobs[1].Lease(), "x"))
			must[Done](t)(q.Redrive(t.Context(), "ann", later))
			if again := claim(t, q, time.Minute); again.ID != later {
				t.Errorf("claimed job %d, want the redriven one", again.ID)
			}
		})
	}
}

// The database's clock jumps, as after a failover. No age is negative and no job
// is stuck for longer than the jump.
func TestJumpingClock(t *testing.T) {
	t.Parallel()
	q, set := openAt(t)
	lease := claimed(t, q, NewJob{MaxAttempts: 100}, time.Minute)
	set(10 * time.Minute)
	taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	if len(taken) != 1 || !about(taken[0].Late, 9*time.Minute) {
		t.Errorf("after a jump ahead, reclaimed %+v", taken)
	}
	enqueue(t, q, NewJob{}) // due in ten minutes by the clock to come
	set(0)
	for _, d := range must[Depths](t)(q.Depth(t.Context(), 0)).Queues {
		if d.OldestReady < 0 || d.Ready != 1 || d.Scheduled != 1 {
			t.Errorf("after a jump back, depth %+v", d)
		}
	}
	job := claim(t, q, time.Minute)
	if job.ID != lease.ID {
		t.Errorf("claimed job %d", job.ID)
	}
	set(-10 * time.Minute)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 0 {
		t.Errorf("reclaimed %v", taken)
	}
	if in, _, err := q.NextExpiry(t.Context()); err != nil || !about(in, 11*time.Minute) {
		t.Errorf("next expiry in %v, %v", in, err)
	}
	// A beat counts from the new now: the lease is no longer than asked for.
	must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: job.Lease(), For: time.Minute}}))
	if in, _, err := q.NextExpiry(t.Context()); err != nil || !about(in, time.Minute) {
		t.Errorf("after a beat, next expiry in %v, %v", in, err)
	}
	ok(t, q.Complete(t.Context(), job.Lease()))
	set(10 * time.Minute)
	if jobs := take(t, q, "emails", 10); len(jobs) != 1 {
		t.Errorf("claimed %v", jobs)
	}
}
