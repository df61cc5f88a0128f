package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Callers enqueue the same keys in orders of their own, in several statements each: no
// deadlock, and each key stands for one job.
func TestBulkEnqueuesOfTheSameKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	q := openWith(t, 8, "deadlock_timeout = 20")
	const keys = insertBatch + 500
	var callers sync.WaitGroup
	results := make([]map[string]int64, 4)
	for n := range results {
		callers.Go(func() {
			jobs := make([]NewJob, keys)
			for i := range jobs {
				// Under a collation of words, "É", "e" and "_" stand elsewhere than by their bytes.
				jobs[i] = NewJob{Queue: fmt.Sprint("q", i%3), IdempotencyKey: fmt.Sprint([]string{"e", "É", "_", "Z"}[i%4], i)}
			}
			switch n {
			case 1:
				slices.Reverse(jobs)
			case 2:
				rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
			case 3:
				slices.SortFunc(jobs, func(a, b NewJob) int { return cmp.Compare(b.IdempotencyKey, a.IdempotencyKey) })
			}
			out, err := q.EnqueueMany(t.Context(), jobs)
			if err != nil {
				t.Error(err)
				return
			}
			results[n] = map[string]int64{}
			for i, e := range out {
				results[n][jobs[i].IdempotencyKey] = e.ID
			}
		})
	}
	callers.Wait()
	for n, result := range results {
		if len(result) != keys {
			t.Errorf("caller %d has %d keys", n, len(result))
		}
		for key, id := range result {
			if results[0][key] != id {
				t.Fatalf("key %s stands for job %d and job %d", key, results[0][key], id)
			}
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != keys {
		t.Errorf("%d jobs for %d keys", n, keys)
	}
	if n := deadlocks(t, q); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// A key is given free after the enqueue found it in use and inserted later ones. To
// insert it now is out of order: somebody else who holds it may wait for those. The
// deadlock stays between them and the server.
func TestEnqueueOfAKeyGivenFreeDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*Queue, []NewJob) ([]Enqueued, error){
		"Enqueue":     func(q *Queue, jobs []NewJob) ([]Enqueued, error) { return q.Enqueue(t.Context(), jobs...) },
		"EnqueueMany": func(q *Queue, jobs []NewJob) ([]Enqueued, error) { return q.EnqueueMany(t.Context(), jobs) },
	}
	for name, enqueue := range ways {
		for _, victim := range []string{"stopped", "other"} {
			t.Run(name+" of the "+victim, func(t *testing.T) { keyGivenFree(t, enqueue, victim) })
		}
	}
}

func keyGivenFree(t *testing.T, enqueue func(*Queue, []NewJob) ([]Enqueued, error), victim string) {
	t.Parallel()
	q := open(t)
	// Who looks for a deadlock first is its victim. Each looks once: the other one waits
	// before there is one to see.
	caller := func(name string) *Queue {
		timeout := "60000"
		if name == victim {
			timeout = map[string]string{"stopped": "20", "other": "2000"}[name]
		}
		caller := must[*Queue](t)(Open(t.Context(), q.Pool().Config().ConnString()+"&deadlock_timeout="+timeout, Options{MaxConns: 2, AppName: name}))
		t.Cleanup(caller.Close)
		return caller
	}
	stopped, other := caller("stopped"), caller("other")
	exec(t, q, `create function stop() returns trigger language plpgsql as $$ begin
		if current_setting('application_name') = 'stopped' then perform pg_advisory_xact_lock_shared(1); end if; return null; end $$;
		create trigger stop after insert on leasetop.jobs execute function stop()`)
	key := func(keys string) (jobs []NewJob) {
		for _, key := range strings.Fields(keys) {
			jobs = append(jobs, NewJob{Queue: "emails", IdempotencyKey: key})
		}
		return jobs
	}
	holder := claimed(t, q, key("b")[0], time.Minute)
	gate := begin(t, q)
	must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
	var first, second []Enqueued
	var callers sync.WaitGroup
	// Not just any two that wait: a commit that notifies waits for those of other databases.
	waits := func(who, forWhom string) {
		until(t, q, "select count(*) from pg_stat_activity where datname = current_database() and application_name = '"+who+"' and pg_blocking_pids(pid) && array("+forWhom+")", 1)
	}
	callers.Go(func() {
		var err error
		if first, err = enqueue(stopped, key("a b c")); err != nil {
			t.Error(err)
		}
	})
	waits("stopped", fmt.Sprintf("select %d", gate.Conn().PgConn().PID())) // it has a and c, and found b in use
	ok(t, q.Complete(t.Context(), holder))
	callers.Go(func() {
		var err error
		if second, err = enqueue(other, key("b c d")); err != nil {
			t.Error(err)
		}
	})
	waits("other", "select pid from pg_stat_activity where datname = current_database() and application_name = 'stopped'") // it has b, and waits for c
	ok(t, gate.Commit(t.Context()))
	callers.Wait()
	if t.Failed() {
		return
	}
	if first[1].ID != second[0].ID || first[2].ID != second[1].ID || first[1].Existing == second[0].Existing || first[2].Existing == second[1].Existing || first[1].ID == holder.ID {
		t.Errorf("enqueued %v and %v", first, second)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'pending'"); n != 4 {
		t.Errorf("%d jobs for 4 keys", n)
	}
	if deadlocks(t, q, stopped, other) == 0 {
		t.Error("there was no deadlock: this test shows nothing")
	}
}

// deadlocks tells how many there were in the database, whoever they were hidden from.
// A session counts its own and tells when it ends, so all of these queues end theirs.
func deadlocks(t testing.TB, q *Queue, others ...*Queue) int64 {
	t.Helper()
	for _, each := range append(others, q) {
		each.flushWakes()
		each.Pool().Reset()
	}
	until(t, q, "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()", 0)
	return count(t, q, "select deadlocks from pg_stat_database where datname = current_database()")
}

// Called off in the middle of a COPY, nothing stays.
func TestBulkEnqueueCalledOff(t *testing.T) {
	t.Parallel()
	q := open(t)
	gate := begin(t, q)
	must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
	exec(t, q, `create function stop() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
		create trigger stop after insert on leasetop.jobs execute function stop()`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := q.EnqueueMany(ctx, make50(t))
		ended <- err
	}()
	blocked(t, q, gate.Conn())
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	ok(t, gate.Commit(t.Context()))
	until(t, q, "select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()", 0)
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs", n)
	}
	enqueueMany(t, q, make50(t)...)
}

func make50(t testing.TB) []NewJob {
	t.Helper()
	return slices.Repeat([]NewJob{{Queue: "emails"}}, 50)
}
