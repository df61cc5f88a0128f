package queue

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// gated returns a queue whose notifications stop at a gate, which the test closes and
// opens: an advisory lock that they take, shared, before they are sent.
func gated(t *testing.T) (q *Queue, shut func() (open func())) {
	t.Helper()
	q = openWith(t, 8)
	exec(t, q, `create schema fake;
		create function fake.notify(channel text, payload text) returns void language internal as 'pg_notify';
		create function fake.pg_notify(channel text, payload text) returns void language plpgsql as $$ begin
			perform pg_advisory_xact_lock_shared(1); perform fake.notify(channel, payload); end $$`)
	stand(t, q, "pg_notify(text, text) returns void", "fake.pg_notify($1, $2)")
	return q, func() func() {
		gate := begin(t, q)
		must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
		return func() { ok(t, gate.Commit(t.Context())) }
	}
}

// atTheGate returns when a notification waits at the gate.
func atTheGate(t *testing.T, q *Queue) {
	t.Helper()
	until(t, q, "select count(*) from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())", 1)
}

// What is enqueued while a notification is under way is told by one more, whoever
// enqueued it and how often.
func TestEnqueuesAreToldTogether(t *testing.T) {
	t.Parallel()
	q, shut := gated(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	open := shut()
	enqueue(t, q, NewJob{Queue: "first"})
	atTheGate(t, q)
	var producers sync.WaitGroup
	for n := range 6 {
		producers.Go(func() {
			for range 25 {
				if _, err := q.Enqueue(t.Context(), NewJob{Queue: fmt.Sprint("q", n%3)}, NewJob{Queue: "all"}); err != nil {
					t.Error(err)
				}
			}
			if _, err := q.EnqueueMany(t.Context(), []NewJob{{Queue: "many"}, {Queue: "keyed", IdempotencyKey: "k"}}); err != nil {
				t.Error(err)
			}
		})
	}
	producers.Wait()
	open()
	ears.hears(t, "first", "all", "q0", "q1", "q2", "many", "keyed")
}

// Without any gate: workers that hear alone, and never poll, miss no job,
// by no more notifications than there is time for.
func TestEveryJobIsHeardOf(t *testing.T) {
	t.Parallel()
	q := open(t)
	const producers, each = 16, 60
	ears := listen(t, q, q.Schema().ReadyChannel())
	began := time.Now()
	var producing sync.WaitGroup
	for n := range producers {
		producing.Go(func() {
			for range each {
				if _, err := q.Enqueue(t.Context(), NewJob{Queue: fmt.Sprint("q", n%2)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	heard := 0
	for left := producers * each; left > 0 && !t.Failed(); heard++ {
		n, err := ears.conn.WaitForNotification(t.Context())
		ok(t, err)
		q.Forget(n.Payload)
		fullLookDue(q, n.Payload)
		for {
			jobs := take(t, q, n.Payload, 100)
			if left -= len(jobs); len(jobs) == 0 {
				break
			}
		}
	}
	producing.Wait()
	t.Logf("%d notifications for %d enqueues", heard, producers*each)
	// Each time both queues at most. On a busy machine there may be an enqueue for each of them.
	if most := 2 * (int(time.Since(began)/wakeEvery) + 1); heard > min(most, producers*each) {
		t.Errorf("%d notifications for %d enqueues, want at most %d", heard, producers*each, most)
	}
}

// One who enqueues again and again is told of at most once in every few milliseconds.
func TestNotificationsKeepTheirDistance(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	began := time.Now()
	for range 300 {
		enqueue(t, q, NewJob{Queue: "a"})
	}
	q.flushWakes()
	most := int(time.Since(began)/wakeEvery) + 1
	exec(t, q, "notify leasetop_ready, 'the end'")
	heard := 0
	for ; ; heard++ {
		n, err := ears.conn.WaitForNotification(t.Context())
		ok(t, err)
		if n.Payload == "the end" {
			break
		}
	}
	if heard == 0 || heard > most {
		t.Errorf("%d notifications, want at most %d", heard, most)
	}
}

// Nobody is woken for a job that was there already.
func TestExistingJobsWakeNobody(t *testing.T) {
	t.Parallel()
	q := open(t)
	enqueue(t, q, NewJob{Queue: "a", IdempotencyKey: "k"})
	ears := listen(t, q, q.Schema().ReadyChannel())
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "a", IdempotencyKey: "k"}))
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "a", IdempotencyKey: "k"}}))
	ears.hears(t)
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "a", IdempotencyKey: "k"}, {Queue: "b", IdempotencyKey: "k"}, {Queue: "c"}}))
	ears.hears(t, "b", "c")
}

// In the caller's transaction the jobs are told when it commits, once for each queue
// however many statements it took, and not at all when it does not.
func TestEnqueuesInATransactionAreToldByItsCommit(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	jobs := []NewJob{{Queue: "a"}, {Queue: "a", IdempotencyKey: "k"}, {Queue: "b"}}
	tx := begin(t, q)
	must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, jobs))
	ears.hears(t)
	ok(t, tx.Rollback(t.Context()))
	ears.hears(t)

	tx = begin(t, q)
	must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, jobs))
	must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, jobs...))
	ears.hears(t)
	ok(t, tx.Commit(t.Context()))
	ears.hears(t, "a", "b")
}

// Close waits for what was enqueued last to be told, also while a notification is
// under way already.
func TestCloseTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	q, shut := gated(t)
	closing := must[*Queue](t)(Open(t.Context(), q.Pool().Config().ConnString(), Options{MaxConns: 2}))
	ears := listen(t, q, q.Schema().ReadyChannel())
	open := shut()
	enqueue(t, closing, NewJob{Queue: "first"})
	atTheGate(t, q)
	enqueue(t, closing, NewJob{Queue: "last"})
	closed := make(chan struct{})
	go func() { closing.Close(); close(closed) }()
	enqueue(t, q, NewJob{Queue: "of another process"})
	select {
	case <-closed:
		t.Error("closed before its notifications were sent")
	default:
	}
	open()
	<-closed
	ears.hears(t, "first", "last", "of another process")
	if _, err := closing.Enqueue(t.Context(), NewJob{Queue: "late"}); err == nil {
		t.Error("a closed queue takes jobs")
	}
	closing.Close() // twice is no error
}

// A queue made from a pool leaves it to its owner.
func TestCloseLeavesTheCallersPoolOpen(t *testing.T) {
	t.Parallel()
	pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), testdb.New(t)+impatient))
	defer pool.Close()
	q := must[*Queue](t)(New(pool, ""))
	ears := listen(t, q, q.Schema().ReadyChannel())
	enqueue(t, q, NewJob{Queue: "a"})
	q.Close()
	ears.hears(t, "a")
	ok(t, pool.Ping(t.Context()))
	if _, err := New(pool, "no such; schema"); err == nil {
		t.Error("a refused schema name is taken")
	}
}

// A notification that cannot be sent fails no enqueue, and the next one is tried again.
func TestNotificationsThatFailFailNoEnqueue(t *testing.T) {
	t.Parallel()
	q, _ := gated(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	exec(t, q, `alter function fake.pg_notify(text, text) rename to kept;
		create function fake.pg_notify(text, text) returns void language plpgsql as $$ begin raise 'too many notifications in the NOTIFY queue'; end $$`)
	if err := q.Wake(t.Context(), "a"); err == nil {
		t.Fatal("the notification did not fail")
	}
	id := enqueue(t, q, NewJob{Queue: "a"})
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "a", IdempotencyKey: "k"}))
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "a"}, {Queue: "b", IdempotencyKey: "k"}}))
	q.flushWakes()
	if jobs := take(t, q, "a", 10); len(jobs) != 3 || jobs[0].ID != id {
		t.Errorf("claimed %v", jobs)
	}
	exec(t, q, "drop function fake.pg_notify(text, text); alter function fake.kept(text, text) rename to pg_notify")
	enqueue(t, q, NewJob{Queue: "c"})
	ears.hears(t, "c")
}

// An enqueue does not wait for its notification, which may hang.
func TestEnqueueDoesNotWaitForItsNotification(t *testing.T) {
	t.Parallel()
	q, shut := gated(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	open := shut()
	enqueue(t, q, NewJob{Queue: "a"})
	atTheGate(t, q)
	enqueue(t, q, NewJob{Queue: "b"})
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 2 {
		t.Errorf("%d jobs", n)
	}
	open()
	ears.hears(t, "a", "b")
}

// A context that ends with the caller's request does not take the notification with it.
func TestNotificationOutlivesTheRequest(t *testing.T) {
	t.Parallel()
	q, shut := gated(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	open := shut()
	ctx, cancel := context.WithCancel(t.Context())
	must[[]Enqueued](t)(q.Enqueue(ctx, NewJob{Queue: "a"}))
	cancel()
	open()
	ears.hears(t, "a")
}

// In a schema of another name, the trigger stands aside as well: one notification, on
// that schema's channel.
func TestWakeUpsInAnotherSchema(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	must[any](t)(leasesql.Migrate(t.Context(), must[*pgx.ConnConfig](t)(pgx.ParseConfig(url)), "elsewhere"))
	q := must[*Queue](t)(Open(t.Context(), url+impatient, Options{Schema: "elsewhere", MaxConns: 4}))
	t.Cleanup(q.Close)
	if q.Schema().ReadyChannel() != "elsewhere_ready" {
		t.Errorf("the channel is %s", q.Schema().ReadyChannel())
	}
	ears := listen(t, q, "elsewhere_ready")
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "a"}))
	ears.hears(t, "a")
	out := must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "b"}, {Queue: "c", IdempotencyKey: "k"}}))
	ears.hears(t, "b", "c")
	jobs := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "b", Owner: owner(), Lease: time.Minute, Limit: 9}))
	if len(jobs) != 1 || jobs[0].ID != out[0].ID || slices.Contains(out, Enqueued{}) {
		t.Errorf("enqueued %v, claimed %v", out, jobs)
	}
}

// A transaction that is to be prepared sends no notification, which PostgreSQL refuses there:
// the comment of EnqueueTx and the page for other languages name the setting.
func TestEnqueueInATransactionThatIsPrepared(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "max_prepared_transactions=2"))
	q := must[*Queue](t)(Open(t.Context(), url, Options{MaxConns: 2}))
	t.Cleanup(q.Close)
	const setting = "SET LOCAL leasetop_wakeup.quiet = 'on'"
	for _, file := range []string{"enqueue.go", "../sql/languages/README.md"} {
		if text := string(must[[]byte](t)(os.ReadFile(file))); !strings.Contains(text, setting) || !strings.Contains(text, "PREPARE TRANSACTION") {
			t.Errorf("%s does not say how to enqueue in a transaction that is prepared", file)
		}
	}
	for name, first := range map[string]string{"loud": "", "quiet": setting} {
		tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
		must[any](t)(tx.Exec(t.Context(), first))
		must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: name}))
		_, err := tx.Exec(t.Context(), "prepare transaction '"+name+"'")
		if refused := err != nil; refused != (name == "loud") {
			t.Errorf("%s: %v", name, err)
		}
		_ = tx.Rollback(t.Context())
	}
	exec(t, q, "commit prepared 'quiet'")
	if jobs := take(t, q, "quiet", 1); len(jobs) != 1 {
		t.Error("the job is not there")
	}
}
