package queue

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// buried makes a dead letter of a job.
func buried(t testing.TB, q *Queue, job NewJob) int64 {
	t.Helper()
	lease := claimed(t, q, job, time.Minute)
	ok(t, q.Bury(t.Context(), lease, "poison"))
	return lease.ID
}

// CASES "Fresh budget": dead at its last attempt, redriven, fails again.
func TestRedriveGivesAFreshBudgetAndKeepsTheHistory(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{MaxAttempts: 2})
	for round := 1; round <= 2; round++ {
		for _, want := range []Status{Pending, Failed} {
			job := claim(t, q, time.Minute)
			if got := must[Status](t)(q.Retry(t.Context(), job.Lease(), fmt.Sprint("round ", round), 0)); got != want {
				t.Fatalf("round %d, attempt %d: %s, want %s", round, job.Attempts, got, want)
			}
		}
		dead := get(t, q, id)
		done := must[Done](t)(q.Redrive(t.Context(), "ann", id))
		if len(done.IDs) != 1 || done.IDs[0] != id || len(done.Skipped) != 0 {
			t.Fatalf("redriven %+v", done)
		}
		job := get(t, q, id)
		if job.Status != Pending || job.Attempts != 0 || job.MaxAttempts != 2 || !job.RunAt.Equal(job.UpdatedAt) || job.DiedAt != nil {
			t.Errorf("redriven: %+v", job)
		}
		if job.LastError != dead.LastError || string(job.Payload) != string(dead.Payload) || len(job.Errors) != 3*round || job.Errors[3*round-1].Worker != "ann" {
			t.Errorf("redriven, it has %q and history %v", job.LastError, job.Errors)
		}
	}
}

func TestRedrivePressedThreeTimesQuickly(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	must[Done](t)(q.Redrive(t.Context(), "ann", id, id, id))
	for range 2 {
		done := must[Done](t)(q.Redrive(t.Context(), "ann", id))
		if len(done.IDs) != 0 || len(done.Skipped) != 1 || done.Skipped[0] != (Skip{ID: id, Reason: "not a dead letter: pending"}) {
			t.Errorf("pressed again: %+v", done)
		}
	}
	if n := len(get(t, q, id).Errors); n != 2 {
		t.Errorf("%d entries in the history, want the burial and one redrive", n)
	}
	claim(t, q, time.Minute)
	if done := must[Done](t)(q.Redrive(t.Context(), "ann", id)); len(done.Skipped) != 1 || done.Skipped[0].Reason != "not a dead letter: processing" {
		t.Errorf("on a running job: %+v", done)
	}
}

func TestTwoOperatorsRedriveAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status, last_error, idempotency_key) select 'emails', 'dead', 'x', case when n % 2 = 0 then 'k' || n end from generate_series(1, 60) n")
	ids := deadIDs(t, q, "")
	results := make([]Done, 2)
	var wg sync.WaitGroup
	for operator := range results {
		wg.Go(func() {
			var err error
			results[operator], err = q.Redrive(t.Context(), fmt.Sprint("operator ", operator), ids...)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(results[0].IDs) + len(results[1].IDs); n != 60 || len(results[0].IDs)+len(results[0].Skipped) != 60 || len(results[1].IDs)+len(results[1].Skipped) != 60 {
		t.Errorf("%d and %d of 60 redriven, %d and %d skipped", len(results[0].IDs), len(results[1].IDs), len(results[0].Skipped), len(results[1].Skipped))
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'pending' and jsonb_array_length(errors) = 1"); n != 60 {
		t.Errorf("%d of 60 redriven once", n)
	}
}

// The second operator waits for the first one's commit and then finds nothing to do.
func TestOperatorsInEveryOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	sessions := twoSessions(t, q)
	for _, order := range orders(3, 3) {
		id := buried(t, q, NewJob{Queue: order})
		done := map[string]*int64{"ann": new(int64), "bob": new(int64)}
		steps := func(who string) []step {
			return []step{run(who+" begins", "begin"), rows(who+" redrives", done[who], func() (string, []any) {
				return q.Schema().Query("redrive"), []any{[]int64{id}, who, true}
			}), run(who+" commits", "commit")}
		}
		story := interleave(t, q, sessions, order, steps("ann"), steps("bob"))
		if *done["ann"]+*done["bob"] != 1 || len(get(t, q, id).Errors) != 2 {
			t.Errorf("%s: redriven %d and %d times", story, *done["ann"], *done["bob"])
		}
	}
}

// CASES "Live twin": the key of a dead job is in use by a pending one.
func TestRedriveSkipsALiveTwin(t *testing.T) {
	t.Parallel()
	q := open(t)
	dead := buried(t, q, NewJob{IdempotencyKey: "k"})
	twin := enqueue(t, q, NewJob{IdempotencyKey: "k"})
	before := rowOf(t, q, dead)
	done := must[Done](t)(q.Redrive(t.Context(), "ann", dead))
	want := Skip{ID: dead, Reason: fmt.Sprintf("idempotency key in use by #%d", twin)}
	if len(done.IDs) != 0 || len(done.Skipped) != 1 || done.Skipped[0] != want {
		t.Errorf("alone: %+v, want skip %+v", done, want)
	}
	if after := rowOf(t, q, dead); strings.Split(after, " by ")[0] != strings.Split(before, " by ")[0] {
		t.Errorf("the skipped job changed:\n%s\n%s", before, after)
	}

	var ids []int64
	for n := range 100 {
		if n == 50 {
			ids = append(ids, dead)
			continue
		}
		exec(t, q, "insert into leasetop.jobs (queue, status, idempotency_key, last_error) values ('emails', 'failed', $1, 'x')", fmt.Sprint("other ", n))
		ids = append(ids, count(t, q, "select max(id) from leasetop.jobs"))
	}
	done = must[Done](t)(q.Redrive(t.Context(), "ann", ids...))
	if len(done.IDs) != 99 || len(done.Skipped) != 1 || done.Skipped[0] != want {
		t.Errorf("among a hundred: %d redriven, skipped %+v", len(done.IDs), done.Skipped)
	}
	q.flushWakes() // on a connection of the pool
	if idle, total := q.Pool().Stat().IdleConns(), q.Pool().Stat().TotalConns(); idle != total {
		t.Errorf("%d of %d connections did not come back", total-idle, total)
	}

	// Two dead jobs of one key: the first takes it.
	exec(t, q, "delete from leasetop.jobs where id = $1", twin)
	second := count(t, q, "insert into leasetop.jobs (queue, status, idempotency_key) values ('emails', 'dead', 'k') returning id")
	done = must[Done](t)(q.Redrive(t.Context(), "ann", dead, second))
	if len(done.IDs) != 1 || len(done.Skipped) != 1 || done.Skipped[0] != (Skip{ID: second, Reason: fmt.Sprintf("idempotency key in use by #%d", dead)}) {
		t.Errorf("two dead twins: %+v", done)
	}
}

// CASES "Redrive-all that never ends": the set is fixed at its start, so jobs that
// fail again at once are not redriven again.
func TestRedriveOfManyActsOnAFixedSet(t *testing.T) {
	t.Parallel()
	q := openWith(t, 10)
	const dead = 100
	exec(t, q, "insert into leasetop.jobs (queue, status, attempts, last_error) select 'emails', 'dead', 5, 'x' from generate_series(1, $1)", dead)
	ids := deadIDs(t, q, "")
	redriven := make(chan struct{})
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 5})
				if err != nil {
					t.Error(err)
					return
				}
				for _, job := range jobs {
					if err := q.Bury(t.Context(), job.Lease(), "again"); err != nil {
						t.Error(err)
					}
				}
				select {
				case <-redriven:
					if len(jobs) == 0 && count(t, q, "select count(*) from leasetop.jobs where status = 'pending'") == 0 {
						return
					}
				default:
				}
			}
		})
	}
	done := must[Done](t)(q.Redrive(t.Context(), "ann", ids...))
	close(redriven)
	workers.Wait()
	if len(done.IDs) != dead || len(done.Skipped) != 0 {
		t.Errorf("%d redriven, skipped %v", len(done.IDs), done.Skipped)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'dead' and errors @> '[{\"outcome\": \"redriven\"}]' and jsonb_array_length(errors) = 2"); n != dead {
		t.Errorf("%d of %d were redriven once and died once more", n, dead)
	}
}

// Many go to a transaction, but each that has an idempotency key alone: holding one key
// while waiting for another, two writers could wait for each other.
func TestRedriveOfManyTakesFewTransactions(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, idempotency_key)
		select 'emails', 'dead', case when n % 100 = 0 then 'key ' || n end from generate_series(1, 500) n`)
	twin := enqueue(t, q, NewJob{IdempotencyKey: "key 300"})
	done := must[Done](t)(q.Redrive(t.Context(), "ann", deadIDs(t, q, "")...))
	if len(done.IDs) != 499 || len(done.Skipped) != 1 || done.Skipped[0] != (Skip{ID: 300, Reason: fmt.Sprintf("idempotency key in use by #%d", twin)}) {
		t.Errorf("%d redriven, skipped %v", len(done.IDs), done.Skipped)
	}
	for query, want := range map[string]int64{
		"select count(distinct xmin::text) from leasetop.jobs where id <= 500 and status = 'pending' and idempotency_key is null":     3,
		"select count(distinct xmin::text) from leasetop.jobs where id <= 500 and status = 'pending' and idempotency_key is not null": 4,
	} {
		if n := count(t, q, query); n != want {
			t.Errorf("%d transactions, want %d: %s", n, want, query)
		}
	}
}

// A redrive wakes the workers of the queues that got jobs back, and of no other.
func TestRedriveWakesWorkers(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := []int64{buried(t, q, NewJob{Queue: "a"}), buried(t, q, NewJob{Queue: "b"}), buried(t, q, NewJob{Queue: "b"})}
	enqueue(t, q, NewJob{Queue: "c"})
	ears := listen(t, q, q.Schema().ReadyChannel())
	must[Done](t)(q.Redrive(t.Context(), "ann", append(ids, count(t, q, "select max(id) from leasetop.jobs"))...))
	ears.hears(t, "a", "b")
}

// Who redrives is text that a person wrote.
func TestRedriveTakesAnyName(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	must[Done](t)(q.Redrive(t.Context(), "ann\x00\xff", id))
	if by := get(t, q, id).Errors[1].Worker; by != "ann\uFFFD\uFFFD" {
		t.Errorf("by %q", by)
	}
	if done, err := q.Redrive(t.Context(), "ann"); err != nil || done.IDs != nil {
		t.Errorf("none: %+v, %v", done, err)
	}
}
