package queue

import (
	"context"
	"encoding/json"
	"flag"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// TestMain has the tests of random lives live forty of them: a hundred take two processors a
// minute and a half. -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	testdb.Main(m)
}

// impatient turns a wait for a lock that never ends into an error.
const impatient = "&lock_timeout=20000"

// open returns the queue of a database of the test's own.
func open(t testing.TB) *Queue {
	t.Helper()
	q, err := Open(context.Background(), testdb.New(t)+impatient, Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// enqueue adds one job and returns its id.
func enqueue(t testing.TB, q *Queue, job NewJob) int64 {
	t.Helper()
	if job.Queue == "" {
		job.Queue = "emails"
	}
	return must[[]Enqueued](t)(q.Enqueue(t.Context(), job))[0].ID
}

var claims atomic.Uint64

// owner is a token that no other claim used.
func owner() string {
	return Token{Process: "host:1:test", Worker: "w1", Claim: claims.Add(1)}.String()
}

// claim takes one job of the queue emails, which must be there.
func claim(t testing.TB, q *Queue, lease time.Duration) *Job {
	t.Helper()
	return claimFrom(t, q, "emails", lease)
}

// claimFrom takes one job, which must be there, wherever it stands.
func claimFrom(t testing.TB, q *Queue, queue string, lease time.Duration) *Job {
	t.Helper()
	q.marks.byQueue.Delete(queue)
	jobs := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: queue, Owner: owner(), Lease: lease, Limit: 1}))
	if len(jobs) != 1 {
		t.Fatalf("claimed %d jobs of %q, want 1", len(jobs), queue)
	}
	return &jobs[0]
}

// claimed enqueues a job and claims it.
func claimed(t testing.TB, q *Queue, job NewJob, lease time.Duration) Lease {
	t.Helper()
	if job.Queue == "" {
		job.Queue = "emails"
	}
	id := enqueue(t, q, job)
	got := claimFrom(t, q, job.Queue, lease)
	if got.ID != id {
		t.Fatalf("claimed job %d, not %d which was just enqueued", got.ID, id)
	}
	return got.Lease()
}

// expire moves the end of a lease into the past, as time would.
func expire(t testing.TB, q *Queue, ids ...int64) {
	t.Helper()
	exec(t, q, "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where id = any($1)", ids)
}

// begin opens a transaction that ends with the test, however the test ends: the pool
// waits for its connection.
func begin(t testing.TB, q *Queue) pgx.Tx {
	t.Helper()
	tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

// errorOf is the error of a call whose result does not matter.
func errorOf[T any](_ T, err error) error { return err }

// firstError reads payloads until one fails.
func firstError(payloads iter.Seq2[Payload, error]) error {
	for _, err := range payloads {
		if err != nil {
			return err
		}
	}
	return nil
}

// payloadsOf returns the payloads that are read, by the ids of their jobs.
func payloadsOf(t testing.TB, payloads iter.Seq2[Payload, error]) map[int64]json.RawMessage {
	t.Helper()
	found := map[int64]json.RawMessage{}
	for p, err := range payloads {
		ok(t, err)
		found[p.ID] = p.JSON
	}
	return found
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, q *Queue, sql string, args ...any) (n int64) {
	t.Helper()
	ok(t, q.pool.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

// exec runs SQL that no operation of the library would.
func exec(t testing.TB, q *Queue, sql string, args ...any) {
	t.Helper()
	if _, err := q.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%v: %s", err, sql)
	}
}

// rowOf reads a whole row as text, to tell whether anything in it changed.
func rowOf(t testing.TB, q *Queue, id int64) (row string) {
	t.Helper()
	if err := q.pool.QueryRow(t.Context(), "select jobs::text || ' by ' || xmin || ' at ' || ctid from leasetop.jobs where id = $1", id).Scan(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

func get(t testing.TB, q *Queue, id int64) *Job {
	t.Helper()
	return must[*Job](t)(q.Get(t.Context(), id))
}

func TestJobLife(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{Kind: "send", Payload: []byte(`{"n": 1970670598291982290, "f": 1e400}`)})
	job := claim(t, q, time.Minute)
	if job.ID != id || job.Attempts != 1 || job.Status != Processing || !strings.Contains(string(job.Payload), "1970670598291982290") {
		t.Fatalf("claimed %+v %s", job, job.Payload)
	}
	if err := q.Complete(t.Context(), job.Lease()); err != nil {
		t.Fatal(err)
	}
	d := must[Depths](t)(q.Depth(t.Context(), 0))
	if len(d.Queues) != 1 || d.Queues[0].Completed != 1 || !d.Queues[0].CompletedExact {
		t.Fatalf("%+v", d)
	}
	if get(t, q, id).Status != Completed {
		t.Fatal("not completed")
	}
}
