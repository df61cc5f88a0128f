package queue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// CASES "NOTIFY size": ten thousand jobs, and large ones, in one transaction of
// whatever kind are one signal for each queue.
func TestManyJobsAreOneSignal(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ReadyChannel())
	jobs := make([]NewJob, 10_000)
	for i := range jobs {
		jobs[i] = NewJob{Queue: fmt.Sprint("q", i%3), Payload: json.RawMessage(`"` + strings.Repeat("x", 500) + `"`)}
	}
	jobs[7].Payload = json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), jobs))
	ears.hears(t, "q0", "q1", "q2")
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		_, err := q.EnqueueManyTx(t.Context(), tx, jobs)
		for _, job := range jobs[:10] {
			must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, job))
		}
		return err
	}))
	ears.hears(t, "q0", "q1", "q2")
}

// CASES "NOTIFY size": a name that could not be notified is no queue's name. It is
// refused before anything is sent, so a transaction of the caller's goes on, and
// what else is in it is not lost.
func TestQueueNamesThatAreTooLongAreRefusedInTime(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, length := range []int{256, 7_990, 9_000} {
		long := strings.Repeat("q", length)
		bad := []NewJob{{Queue: "emails"}, {Queue: long}}
		want := fmt.Sprintf("queue of %d bytes: at most 255 are allowed", length)
		expect := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
		_, err := q.Enqueue(t.Context(), bad...)
		expect("enqueue", err)
		_, err = q.EnqueueMany(t.Context(), bad)
		expect("enqueue many", err)
		_, err = q.Pause(t.Context(), "ann", "", "emails", long)
		expect("pause", err)
		_, err = q.Resume(t.Context(), long)
		expect("resume", err)

		before := count(t, q, "select count(*) from leasetop.jobs")
		tx := begin(t, q)
		must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails"}))
		_, err = q.EnqueueTx(t.Context(), tx, bad...)
		expect("enqueue tx", err)
		_, err = q.EnqueueManyTx(t.Context(), tx, bad)
		expect("enqueue many tx", err)
		must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails"}))
		ok(t, tx.Commit(t.Context()))
		if n := count(t, q, "select count(*) from leasetop.jobs"); n != before+2 {
			t.Errorf("%d jobs were added, want 2", n-before)
		}
		if pauses := must[[]Pause](t)(q.Pauses(t.Context())); len(pauses) != 0 {
			t.Errorf("paused %+v", pauses)
		}
	}
	// Nobody waits for a queue of a name that there cannot be.
	_, err := q.Claim(t.Context(), ClaimRequest{Queue: strings.Repeat("q", 7_990), Owner: owner(), Lease: 60e9, Limit: 1})
	if err == nil || !strings.Contains(err.Error(), "255") {
		t.Errorf("claimed with %v", err)
	}
}

// When the server has no room for another notification, because some session listens
// in a transaction that it never ends, everything goes on without them, whoever writes.
// That state takes gigabytes to reach, so here functions in PostgreSQL's place say what
// it would say.
func TestFullNotificationQueueFailsNobody(t *testing.T) {
	t.Parallel()
	q := openWith(t, 4)
	exec(t, q, `create schema fake;
		create function fake.pg_notify(channel text, payload text) returns void language plpgsql as $$ begin
			raise 'too many notifications in the NOTIFY queue' using errcode = 'program_limit_exceeded'; end $$`, pgx.QueryExecModeSimpleProtocol)
	stand(t, q, "pg_notification_queue_usage() returns float8", "0.95::float8")
	stand(t, q, "pg_notify(text, text) returns void", "fake.pg_notify($1, $2)")
	if err := q.Wake(t.Context(), "emails"); err == nil || !strings.Contains(err.Error(), "too many notifications") {
		t.Fatalf("there is room: %v", err)
	}
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "emails"}, NewJob{Queue: "emails", IdempotencyKey: "k"}))
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "emails"}}))
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		_, err := q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails"})
		return err
	}))
	exec(t, q, "insert into leasetop.jobs (queue) values ('emails')")
	q.flushWakes()
	jobs := take(t, q, "emails", 10)
	if len(jobs) != 5 {
		t.Fatalf("claimed %d of 5 jobs", len(jobs))
	}
	ok(t, q.Complete(t.Context(), jobs[0].Lease()))
	must[Status](t)(q.Retry(t.Context(), jobs[1].Lease(), "503", 0))
	ok(t, q.Bury(t.Context(), jobs[2].Lease(), "poison"))
	expire(t, q, jobs[3].ID)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 1 {
		t.Errorf("reclaimed %v", taken)
	}
	if done := must[Cancelled](t)(q.Cancel(t.Context(), "ann", jobs[4].ID)); len(done.Asked) != 1 {
		t.Errorf("%+v", done)
	}
	must[[]string](t)(q.Pause(t.Context(), "ann", "", "emails"))
	must[[]string](t)(q.Resume(t.Context(), "emails"))
	must[Done](t)(q.Redrive(t.Context(), "ann", jobs[2].ID))
}
