package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ears is a connection that listens.
type ears struct {
	conn    *pgx.Conn
	channel string
	q       *Queue
}

func listen(t testing.TB, q *Queue, channel string) *ears {
	t.Helper()
	q.flushWakes()
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig()))
	t.Cleanup(func() { conn.Close(context.Background()) })
	must[any](t)(conn.Exec(t.Context(), "listen "+channel))
	return &ears{conn, channel, q}
}

// hears checks every notification since the last call, in any order. A marker
// sent now ends the wait: notifications come in the order of commits.
func (e *ears) hears(t testing.TB, want ...string) {
	t.Helper()
	const marker = "-- all of it --"
	e.q.flushWakes()
	exec(t, e.q, "select pg_notify($1, $2)", e.channel, marker)
	var got []string
	for {
		n, err := e.conn.WaitForNotification(t.Context())
		ok(t, err)
		if n.Payload == marker {
			break
		}
		got = append(got, n.Payload)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s carried %q, want %q", e.channel, got, want)
	}
}

// One notification for each queue of a statement, whoever writes, and none for
// jobs that nobody can claim.
func TestNewWorkIsNotifiedOncePerQueueAndStatement(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())

	exec(t, q, "insert into leasetop.jobs (queue) select 'q' || n % 3 from generate_series(1, 10000) n")
	ears.hears(t, "q0", "q1", "q2")

	exec(t, q, "insert into leasetop.jobs (queue, status) values ('done', 'completed'), ('bad', 'dead')")
	ears.hears(t)

	exec(t, q, "insert into leasetop.jobs (queue) select 'none' where false")
	ears.hears(t)

	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "a", IdempotencyKey: "k"}, NewJob{Queue: "b"}, NewJob{Queue: "b"}))
	ears.hears(t, "a", "b")
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "a", IdempotencyKey: "k"}))
	ears.hears(t) // it exists already

	copied, err := q.Pool().CopyFrom(t.Context(), pgx.Identifier{"leasetop", "jobs"}, []string{"queue"},
		pgx.CopyFromSlice(1000, func(int) ([]any, error) { return []any{"copied"}, nil }))
	if err != nil || copied != 1000 {
		t.Fatal(copied, err)
	}
	ears.hears(t, "copied")

	ok(t, q.Wake(t.Context(), "a", "b", "a"))
	ears.hears(t, "a", "b")
	ok(t, q.Wake(t.Context()))
	ears.hears(t)
}

// CASES "NOTIFY size": 10k rows in one transaction by 10k statements, long queue
// names, large payloads. Nothing fails because of the signal.
func TestSignalsNeverFailAnEnqueue(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `do $$ begin for n in 1..10000 loop insert into leasetop.jobs (queue) values ('emails'); end loop; end $$`)
		return err
	}))
	ears.hears(t, "emails") // identical ones of a transaction are one

	longest := strings.Repeat("é", 127) + "q"
	enqueue(t, q, NewJob{Queue: longest})
	ears.hears(t, longest)

	enqueue(t, q, NewJob{Queue: "large", Payload: []byte(`"` + strings.Repeat("x", 5<<20) + `"`)})
	ears.hears(t, "large")

	tx := begin(t, q)
	must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "rolled back"}))
	ok(t, tx.Rollback(t.Context()))
	ears.hears(t)

	if _, err := q.Pool().Exec(t.Context(), "insert into leasetop.jobs (queue) values (repeat('q', 7990))"); err == nil || !strings.Contains(err.Error(), "jobs_queue_named") {
		t.Errorf("a queue name of 7,990 bytes: %v, want it refused by its constraint", err)
	}
}

// A writer that will send its own signal asks the trigger to stand aside, for
// that transaction alone.
func TestQuietTransactionsAreNotNotified(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig()))
	defer conn.Close(t.Context())
	ok(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		must[any](t)(tx.Exec(t.Context(), "set local leasetop_wakeup.quiet = 'on'"))
		must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "quiet"}))
		return nil
	}))
	ears.hears(t)
	must[any](t)(conn.Exec(t.Context(), "insert into leasetop.jobs (queue) values ('loud')"))
	ears.hears(t, "loud")
}

// Dead letters coming or going are notified whoever writes them, in raw SQL too.
func TestDeadLettersAreNotified(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().DeadChannel())
	for _, step := range []struct {
		what, sql string
		want      []string
	}{
		{"insert", "insert into leasetop.jobs (queue, status) values ('a', 'dead'), ('b', 'failed'), ('c', 'pending'), ('d', 'completed')", []string{"a", "b"}},
		{"update to dead", "update leasetop.jobs set status = 'dead' where queue = 'c'", []string{"c"}},
		{"from failed to dead", "update leasetop.jobs set status = 'dead' where queue = 'b'", []string{"b"}},
		{"rename of the queue", "update leasetop.jobs set queue = 'c2' where queue = 'c'", []string{"c", "c2"}},
		{"back to pending", "update leasetop.jobs set status = 'pending' where queue = 'c2'", []string{"c2"}},
		{"dead to dead", "update leasetop.jobs set status = status, updated_at = now() where status = 'dead'", nil},
		{"another column", "update leasetop.jobs set payload = '1', last_error = 'x' where status = 'dead'", nil},
		{"upsert", "insert into leasetop.jobs (id, queue, status) values (1, 'a', 'dead') on conflict (id) do update set status = 'completed'", []string{"a"}},
		{"delete", "delete from leasetop.jobs where queue in ('b', 'd')", []string{"b"}},
		{"many", "insert into leasetop.jobs (queue, status) select 'many', 'dead' from generate_series(1, 20000)", []string{"many"}},
		{"many deleted", "delete from leasetop.jobs where queue = 'many'", []string{"many"}},
		{"truncate", "truncate leasetop.jobs", []string{""}},
	} {
		exec(t, q, step.sql)
		t.Run(step.what, func(t *testing.T) { ears.hears(t, step.want...) })
	}
}

// The daily work of a queue, which is most of the writing, sends no signal on
// the dead channel.
func TestOrdinaryWorkIsNotNotifiedAsDead(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().DeadChannel())
	for n := range 5 {
		enqueue(t, q, NewJob{Kind: fmt.Sprint(n)})
	}
	jobs := take(t, q, "emails", 5)
	must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: jobs[0].Lease(), For: time.Minute}}))
	ok(t, q.Complete(t.Context(), jobs[0].Lease()))
	must[Status](t)(q.Retry(t.Context(), jobs[1].Lease(), "x", 0))
	must[Status](t)(q.Release(t.Context(), jobs[2].Lease()))
	must[Status](t)(q.Snooze(t.Context(), jobs[3].Lease(), time.Hour))
	expire(t, q, jobs[4].ID)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	ears.hears(t)

	ok(t, q.Bury(t.Context(), claim(t, q, time.Minute).Lease(), "x"))
	ears.hears(t, "emails")
}
