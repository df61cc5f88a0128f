package queue

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestReclaimTellsWhoLostWhat(t *testing.T) {
	t.Parallel()
	q := open(t)
	once := claimed(t, q, NewJob{Kind: "send", MaxAttempts: 2}, time.Minute)
	last := claimed(t, q, NewJob{Queue: "reports", MaxAttempts: 1}, time.Minute)
	live := claimed(t, q, NewJob{}, time.Minute)
	expire(t, q, once.ID, last.ID)
	taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	if len(taken) != 2 {
		t.Fatalf("reclaimed %+v", taken)
	}
	for _, r := range taken {
		late := r.Late
		r.Late = 0
		want := Reclaimed{ID: once.ID, Queue: "emails", Kind: "send", Attempts: 1, Status: Pending, Owner: once.Token}
		if r.ID == last.ID {
			want = Reclaimed{ID: last.ID, Queue: "reports", Attempts: 1, Status: Dead, Owner: last.Token}
		}
		if r != want || late < time.Second || late > time.Minute {
			t.Errorf("%+v, late %v; want %+v, a second late", r, late, want)
		}
	}
	if got := get(t, q, live.ID); got.Status != Processing {
		t.Errorf("a live lease became %s", got.Status)
	}
	if got := get(t, q, last.ID); got.LastError != "worker lost once: the lease ran out without a heartbeat" || got.Fingerprint != got.LastError {
		t.Errorf("last error %q, fingerprint %q", got.LastError, got.Fingerprint)
	}
}

// Others' queues are theirs: their leases are neither taken back nor waited for.
func TestReclaimKeepsToTheQueuesItIsGiven(t *testing.T) {
	t.Parallel()
	q := open(t)
	expired := claimed(t, q, NewJob{Queue: "theirs"}, time.Minute)
	expire(t, q, expired.ID)
	claimed(t, q, NewJob{Queue: "theirs"}, time.Minute)
	claimed(t, q, NewJob{Queue: "ours"}, time.Hour)
	for what, ask := range map[string]func(context.Context, ...string) (time.Duration, bool, error){
		"next expiry": q.NextExpiry, "expiry to come": q.ExpiryToCome,
	} {
		if in, found, err := ask(t.Context(), "ours", "none"); err != nil || !found || in < 50*time.Minute {
			t.Errorf("%s of ours: in %v, %v, %v", what, in, found, err)
		}
		if _, found, err := ask(t.Context(), "none"); err != nil || found {
			t.Errorf("%s of a queue without jobs: %v, %v", what, found, err)
		}
		if in, found, err := ask(t.Context()); err != nil || !found || in > time.Minute {
			t.Errorf("%s of all: in %v, %v, %v", what, in, found, err)
		}
	}
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10, "ours", "none")); len(taken) != 0 {
		t.Errorf("reclaimed %+v", taken)
	}
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10, "ours", "theirs")); len(taken) != 1 || taken[0].ID != expired.ID {
		t.Errorf("reclaimed %+v, want job %d", taken, expired.ID)
	}
}

// A job that takes every worker down ends as poison, and its error says why.
func TestWorkerKillerDies(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{MaxAttempts: 3})
	for n := 1; n <= 3; n++ {
		if job := claim(t, q, time.Minute); job.Attempts != n {
			t.Errorf("claim %d is attempt %d", n, job.Attempts)
		}
		expire(t, q, id)
		must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	}
	job := get(t, q, id)
	if job.Status != Dead || job.LastError != "worker lost 3 times: the lease ran out without a heartbeat" || len(job.Errors) != 3 {
		t.Errorf("%s: %q after %v", job.Status, job.LastError, job.Errors)
	}
	if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
		t.Errorf("claimed %v", jobs)
	}
}

// A reclaimed job keeps its run_at, which is before where the last claim looked.
func TestReclaimedJobIsClaimedAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	enqueue(t, q, NewJob{})
	enqueue(t, q, NewJob{})
	lost, second := take(t, q, "emails", 1)[0], take(t, q, "emails", 1)[0]
	expire(t, q, lost.ID)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	if again := take(t, q, "emails", 10); len(again) != 1 || again[0].ID != lost.ID || second.ID == lost.ID {
		t.Errorf("claimed %v, want job %d at once", again, lost.ID)
	}
}

func TestReclaimTakesNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status, attempts, locked_by, lease_expires_at) select 'emails', 'processing', 1, 'x', now() - interval '1 h' from generate_series(1, 25)")
	for _, want := range []int{10, 10, 5, 0} {
		if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != want {
			t.Errorf("reclaimed %d, want %d", len(taken), want)
		}
	}
}

// Live leases do not count against the limit.
func TestReclaimFindsTheExpiredAmongTheLive(t *testing.T) {
	t.Parallel()
	q := open(t)
	for range 20 {
		enqueue(t, q, NewJob{})
	}
	jobs := take(t, q, "emails", 20)
	expire(t, q, jobs[19].ID)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 5)); len(taken) != 1 || taken[0].ID != jobs[19].ID {
		t.Errorf("reclaimed %+v, want job %d", taken, jobs[19].ID)
	}
}

// CASES "Twenty reapers, 5000 expired leases": each is reclaimed once.
func TestTwentyReapersReclaimEachLeaseOnce(t *testing.T) {
	t.Parallel()
	q := openWith(t, 20)
	const leases = 5000
	exec(t, q, `insert into leasetop.jobs (queue, status, attempts, max_attempts, locked_by, locked_at, lease_expires_at)
		select 'q' || n % 7, 'processing', 1, 1 + n % 2, 'worker ' || n, now(), now() - interval '1 minute' from generate_series(1, $1) n`, leases)
	var mu sync.Mutex
	owners := map[string]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				taken, err := q.Reclaim(t.Context(), 60)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, r := range taken {
					owners[r.Owner]++
				}
				mu.Unlock()
				if len(taken) > 0 {
					continue
				}
				if _, found, err := q.NextExpiry(t.Context()); err != nil || !found {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	if len(owners) != leases {
		t.Errorf("%d leases of %d were reclaimed", len(owners), leases)
	}
	for owner, times := range owners {
		if times != 1 {
			t.Errorf("the lease of %s was reclaimed %d times", owner, times)
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where jsonb_array_length(errors) = 1 and attempts = 1 and status = case max_attempts when 1 then 'dead' else 'pending' end"); n != leases {
		t.Errorf("%d of %d rows are as they should be", n, leases)
	}
}

// A row in processing that no reaper would ever find must not exist.
func TestNoLeaseIsEndless(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := claimed(t, q, NewJob{}, time.Minute).ID
	for _, change := range []string{
		"lease_expires_at = null", "lease_expires_at = 'infinity'", "lease_expires_at = '-infinity'", "locked_by = null",
		"created_at = 'infinity'", "updated_at = '-infinity'", "locked_at = 'infinity'",
	} {
		if _, err := q.Pool().Exec(t.Context(), "update leasetop.jobs set "+change+" where id = $1", id); err == nil {
			t.Errorf("the table takes %s of a job in processing", change)
		}
	}
	// As far as a finite lease can lie in the past, it is reclaimed.
	exec(t, q, "update leasetop.jobs set lease_expires_at = '4714-11-24 00:00:00+00 BC' where id = $1", id)
	if in, found, err := q.NextExpiry(t.Context()); err != nil || !found || in >= 0 {
		t.Errorf("next expiry in %v, %v, %v", in, found, err)
	}
	if taken, err := q.Reclaim(t.Context(), 1); err != nil || len(taken) != 1 || taken[0].Late <= 0 {
		t.Errorf("reclaimed %+v, %v", taken, err)
	}
	// And as far in the future, it harms nobody.
	exec(t, q, "update leasetop.jobs set status = 'processing', locked_by = 'x', lease_expires_at = '294276-12-31' where id = $1", id)
	if in, found, err := q.NextExpiry(t.Context()); err != nil || !found || in <= 0 {
		t.Errorf("next expiry in %v, %v, %v", in, found, err)
	}
	if leases, err := q.Leases(t.Context(), 10); err != nil || len(leases) != 1 {
		t.Errorf("leases %v, %v", leases, err)
	}
}
