package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// wantDone fails the test unless an act did just this.
func wantDone(t testing.TB, what string, got Done, ids []int64, skipped ...Skip) {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(got.IDs)), slices.Sorted(slices.Values(ids))) || !slices.Equal(got.Skipped, skipped) {
		t.Errorf("%s: done to %v, skipped %v; want %v, %v", what, got.IDs, got.Skipped, ids, skipped)
	}
}

// wholeRow reads every column of a job as text.
func wholeRow(t testing.TB, q *Queue, id int64) map[string]string {
	t.Helper()
	var text []byte
	ok(t, q.pool.QueryRow(t.Context(), "select jsonb_object_agg(key, value #>> '{}') from leasetop.jobs, jsonb_each(to_jsonb(jobs)) where id = $1", id).Scan(&text))
	row := map[string]string{}
	ok(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), ": null", `: "NULL"`)), &row))
	return row
}

// Discarded and restored, a job is what it was in every column that there is, but for
// the note in its history.
func TestDiscardAndRestoreKeepEveryColumn(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, die := range map[string]func() int64{
		"failed": func() int64 {
			lease := claimed(t, q, NewJob{Kind: "send", Payload: []byte(`{"n": 1970670598291982290, "f": 1e400, "z": -0.0, "s": "é\u2028<&>"}`), MaxAttempts: 1, IdempotencyKey: "k"}, time.Minute)
			must[Status](t)(q.Retry(t.Context(), lease, "503", 0))
			return lease.ID
		},
		"cancelled": func() int64 {
			id := enqueue(t, q, NewJob{Delay: time.Hour})
			cancelled(t, q, "ann", id)
			return id
		},
		"never": func() int64 {
			id := enqueue(t, q, NewJob{RunAt: Time{Infinity: 1}})
			cancelled(t, q, "ann", id)
			return id
		},
		"a strange history": func() int64 {
			id := buried(t, q, NewJob{})
			exec(t, q, `update leasetop.jobs set errors = '["text", 7, {"a": [null]}]', attempts = 2147483647, run_at = '-infinity', last_error = null where id = $1`, id)
			return id
		},
		"an old one": func() int64 {
			id := buried(t, q, NewJob{})
			exec(t, q, "update leasetop.jobs set created_at = '0044-03-15 BC', updated_at = '294276-12-31 23:59:59.999999' where id = $1", id)
			return id
		},
	} {
		id := die()
		before := wholeRow(t, q, id)
		if len(before) != int(count(t, q, "select count(*) from information_schema.columns where table_schema = 'leasetop' and table_name = 'jobs'")) || before["died_at"] == "NULL" {
			t.Fatalf("%s: the row is %v", name, before)
		}
		wantDone(t, "discard", must[Done](t)(q.Discard(t.Context(), "ann", "why", id)), []int64{id})
		if n := count(t, q, "select count(*) from leasetop.jobs where id = $1", id); n != 0 {
			t.Errorf("%s: discarded, it is still there", name)
		}
		wantDone(t, "restore", must[Done](t)(q.Restore(t.Context(), "bob", id)), []int64{id})
		if n := count(t, q, "select count(*) from leasetop.jobs_archive"); n != 0 {
			t.Errorf("%s: restored, it is still in the archive", name)
		}
		after := wholeRow(t, q, id)
		notes := get(t, q, id).Errors
		note := notes[len(notes)-1]
		if note.Worker != "bob" || note.Outcome != "restored" || note.Error != "" || fmt.Sprint(note.Attempt) != before["attempts"] {
			t.Errorf("%s: noted %+v", name, note)
		}
		var was, is []json.RawMessage
		ok(t, json.Unmarshal([]byte(before["errors"]), &was))
		ok(t, json.Unmarshal([]byte(after["errors"]), &is))
		if len(is) != len(was)+1 || fmt.Sprintf("%s", is[:len(was)]) != fmt.Sprintf("%s", was) {
			t.Errorf("%s: the history was %s and is %s", name, was, is)
		}
		delete(before, "errors")
		for column, want := range before {
			if got := after[column]; got != want {
				t.Errorf("%s: %s was %q and is %q", name, column, want, got)
			}
		}
	}
}

// Only dead letters are discarded, and what is skipped has its reason.
func TestDiscardSkipsWhatIsNoDeadLetter(t *testing.T) {
	t.Parallel()
	q := open(t)
	dead, done := buried(t, q, NewJob{}), claimed(t, q, NewJob{}, time.Minute)
	ok(t, q.Complete(t.Context(), done))
	running, waiting := claimed(t, q, NewJob{}, time.Minute).ID, enqueue(t, q, NewJob{})
	other := buried(t, q, NewJob{Queue: "other"})
	wantDone(t, "first", must[Done](t)(q.Discard(t.Context(), "ann", "", waiting, dead, running, 4711, done.ID, dead, other)), []int64{dead, other},
		Skip{ID: waiting, Reason: "not a dead letter: pending"}, Skip{ID: running, Reason: "not a dead letter: processing"}, Skip{ID: 4711, Reason: "no such job", Failed: true}, Skip{ID: done.ID, Reason: "not a dead letter: completed"})
	wantDone(t, "restore", must[Done](t)(q.Restore(t.Context(), "ann", running, dead, 4711, dead)), []int64{dead},
		Skip{ID: running, Reason: "not in the archive, but processing"}, Skip{ID: 4711, Reason: "not in the archive", Failed: true})
	wantDone(t, "restore again", must[Done](t)(q.Restore(t.Context(), "ann", dead)), nil, Skip{ID: dead, Reason: "not in the archive, but dead"})
	wantDone(t, "none", must[Done](t)(q.Discard(t.Context(), "ann", "")), nil)
	// It is a dead letter again, and can be what dead letters can.
	wantDone(t, "redrive", must[Done](t)(q.Redrive(t.Context(), "ann", dead)), []int64{dead})
	if job := claim(t, q, time.Minute); job.ID != waiting && job.ID != dead {
		t.Errorf("claimed %+v", job)
	}
}

// Somebody gave the id of a discarded job to another one. Neither is lost.
func TestIDsThatWereGivenAgain(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{Kind: "first"})
	must[Done](t)(q.Discard(t.Context(), "ann", "", id))
	exec(t, q, "insert into leasetop.jobs (id, queue, kind, status) values ($1, 'emails', 'second', 'dead')", id)
	wantDone(t, "discard", must[Done](t)(q.Discard(t.Context(), "ann", "", id)), nil, Skip{ID: id, Reason: "the archive holds another job of this id: purge it first"})
	wantDone(t, "restore", must[Done](t)(q.Restore(t.Context(), "ann", id)), nil, Skip{ID: id, Reason: "there is another job of this id: dead"})
	if kinds := get(t, q, id).Kind + " " + must[*Archived](t)(q.GetArchived(t.Context(), id)).Kind; kinds != "second first" {
		t.Errorf("the two are now %s", kinds)
	}
	must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeArchive}, nil))
	wantDone(t, "after a purge", must[Done](t)(q.Discard(t.Context(), "ann", "", id)), []int64{id})
}

// CASES "Live twin": a discarded job has given its key free, and takes it from nobody
// when it comes back.
func TestRestoredJobLeavesItsKeyToALiveTwin(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{IdempotencyKey: "k"})
	must[Done](t)(q.Discard(t.Context(), "ann", "", id))
	twin := must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "emails", IdempotencyKey: "k"}))[0]
	if twin.Existing {
		t.Errorf("the archive holds the key: %+v", twin)
	}
	wantDone(t, "restore", must[Done](t)(q.Restore(t.Context(), "ann", id)), []int64{id})
	wantDone(t, "redrive", must[Done](t)(q.Redrive(t.Context(), "ann", id)), nil, Skip{ID: id, Reason: fmt.Sprintf("idempotency key in use by #%d", twin.ID)})
	cancelled(t, q, "ann", twin.ID).want(t, "the twin", []int64{twin.ID}, nil)
	wantDone(t, "redrive", must[Done](t)(q.Redrive(t.Context(), "ann", id, twin.ID)), []int64{id}, Skip{ID: twin.ID, Reason: fmt.Sprintf("idempotency key in use by #%d", id)})
}

// The archive is seen newest id first, a page after the other, of one queue or all.
func TestArchiveIsListedByPages(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (id, queue, kind, status, attempts, last_error, updated_at)
		select n, 'q' || n % 3, 'send', 'failed', 5, repeat('503 ', 500), now() - n * interval '1 minute' from generate_series(-3, 50) n`)
	must[Done](t)(q.Discard(t.Context(), "ann", "gone", deadIDs(t, q, "")...))
	for queue, want := range map[string]int64{"": 54, "q1": count(t, q, "select count(*) from leasetop.jobs_archive where queue = 'q1'"), "q9": 0} {
		var seen []int64
		before := int64(0)
		for {
			page := must[[]Archived](t)(q.Archive(t.Context(), queue, before, 7))
			for _, a := range page {
				seen = append(seen, a.ID)
			}
			if len(page) < 7 {
				break
			}
			before = page[6].ID
		}
		if int64(len(seen)) != want || !slices.IsSortedFunc(seen, func(a, b int64) int { return int(b - a) }) || len(slices.Compact(seen)) != len(seen) {
			t.Errorf("of %q: %v", queue, seen)
		}
	}
	a := must[[]Archived](t)(q.Archive(t.Context(), "", 0, 1))[0]
	whole := must[*Archived](t)(q.GetArchived(t.Context(), a.ID))
	whole.LastError, whole.Payload, whole.Errors = whole.LastError[:1000], nil, nil
	got, want := string(must[[]byte](t)(json.Marshal(a))), string(must[[]byte](t)(json.Marshal(whole)))
	if got != want || a.ArchivedBy != "ann" || a.ArchivedWhy != "gone" || a.DiedAt == nil || a.Fingerprint == "" {
		t.Errorf("listed as\n%s\nand whole as\n%s", got, want)
	}
}

// A job is discarded, redriven and restored by many at once: in the end it is in one
// place, and each act was done as often as it was told.
func TestDiscardRedriveAndRestoreAtOnce(t *testing.T) {
	t.Parallel()
	q := openWith(t, 8, "deadlock_timeout = 20")
	const jobs = 60
	exec(t, q, "insert into leasetop.jobs (queue, status, idempotency_key) select 'emails', 'dead', case when n % 2 = 0 then 'k' || n end from generate_series(1, $1) n", jobs)
	ids := deadIDs(t, q, "")
	acts := map[string]func(context.Context, string, ...int64) (Done, error){
		"redriven": q.Redrive,
		"restored": q.Restore,
		"discard": func(ctx context.Context, by string, ids ...int64) (Done, error) {
			return q.Discard(ctx, by, "", ids...)
		},
		"cancelled": func(ctx context.Context, by string, ids ...int64) (Done, error) {
			done, err := q.Cancel(ctx, by, ids...)
			return Done{IDs: done.IDs}, err
		},
	}
	var mu sync.Mutex
	told := map[string]int{}
	var operators sync.WaitGroup
	for name, act := range acts {
		for reversed := range 2 {
			operators.Go(func() {
				mine := slices.Clone(ids)
				if reversed == 1 {
					slices.Reverse(mine)
				}
				for range 8 {
					done, err := act(t.Context(), name, mine...)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					for _, skip := range done.Skipped {
						if skip.Reason == "" || strings.Contains(skip.Reason, "another job") {
							t.Errorf("%s: skipped %v", name, skip)
						}
					}
					mu.Lock()
					told[name] += len(done.IDs)
					mu.Unlock()
				}
			})
		}
	}
	operators.Wait()
	here, archived := count(t, q, "select count(*) from leasetop.jobs"), count(t, q, "select count(*) from leasetop.jobs_archive")
	if here+archived != jobs || count(t, q, "select count(*) from leasetop.jobs join leasetop.jobs_archive using (id)") != 0 || told["discard"]-told["restored"] != int(archived) {
		t.Errorf("%d jobs and %d in the archive, of %d; told %v", here, archived, jobs, told)
	}
	// A history keeps the last twenty.
	for _, outcome := range []string{"redriven", "restored", "cancelled"} {
		n := count(t, q, `select count(*) from (select errors from leasetop.jobs union all select errors from leasetop.jobs_archive) as all_jobs, jsonb_array_elements(errors) a where a ->> 'outcome' = $1`, outcome)
		if longest := count(t, q, `select max(jsonb_array_length(errors)) from (select errors from leasetop.jobs union all select errors from leasetop.jobs_archive) as all_jobs`); longest < 20 && n != int64(told[outcome]) {
			t.Errorf("%d times %s by the histories, told %d", n, outcome, told[outcome])
		}
	}
	if n := deadlocks(t, q); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	t.Logf("told %v", told)
}

// Dead letters that leave by discard and come by restore are told on the dead channel,
// and nobody is woken for them.
func TestDiscardAndRestoreAreNotified(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := []int64{buried(t, q, NewJob{Queue: "a"}), buried(t, q, NewJob{Queue: "b"}), buried(t, q, NewJob{Queue: "b"})}
	dead, ready := listen(t, q, q.Schema().DeadChannel()), listen(t, q, q.Schema().ReadyChannel())
	must[Done](t)(q.Discard(t.Context(), "ann", "", ids...))
	dead.hears(t, "a", "b")
	must[Done](t)(q.Restore(t.Context(), "ann", ids...))
	dead.hears(t, "a", "b")
	ready.hears(t)
}

// Who and why are texts that a person wrote.
func TestDiscardTakesAnyText(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	must[Done](t)(q.Discard(t.Context(), "ann\x00\xff", strings.Repeat("why\x00", ErrorTextLimit), id))
	got := must[[]Archived](t)(q.Archive(t.Context(), "", 0, 10))
	if len(got) != 1 || got[0].ArchivedBy != "ann\uFFFD\uFFFD" || !strings.HasPrefix(got[0].ArchivedWhy, "why\uFFFDwhy") || !strings.HasSuffix(got[0].ArchivedWhy, "bytes more)") {
		t.Errorf("archived %+v", got)
	}
	must[Done](t)(q.Restore(t.Context(), "\x00", id))
	if job := get(t, q, id); job.Errors[1].Worker != "\uFFFD" {
		t.Errorf("history %+v", job.Errors)
	}
}
