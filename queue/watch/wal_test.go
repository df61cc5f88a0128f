package watch

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// streams returns a feed with a live stream, on a server of the test's own.
func streams(t *testing.T, settings ...string) (*Feed, *queue.Queue, *pgx.Conn) {
	t.Helper()
	server := testdb.Server(t, append(settings, "autovacuum=off")...)
	url := testdb.On(t, server)
	q := open(t, url)
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	return f, q, client(t, url)
}

// tells waits until what happened since a State is exactly the lines.
func tells(t *testing.T, f *Feed, since *State, lines ...string) *State {
	t.Helper()
	s := await(t, f, fmt.Sprintf("%d events", len(lines)), func(s *State) bool { return len(story(since, s)) >= len(lines) })
	if got := story(since, s); !slices.Equal(got, lines) {
		t.Errorf("told\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
	for _, e := range s.Events {
		if e.What != Health && (e.Source != FromWAL || e.At.IsZero() || time.Since(e.At) > time.Hour) {
			t.Errorf("event %+v", e)
		}
	}
	return s
}

func TestStreamTellsEveryStepOfAJob(t *testing.T) {
	t.Parallel()
	f, q, _ := streams(t)
	ctx := t.Context()
	s := f.State()

	enqueue(t, q, queue.NewJob{Kind: "send", MaxAttempts: 2})
	s = tells(t, f, s, "enqueued emails")
	enqueue(t, q, queue.NewJob{Queue: "later", Delay: time.Hour})
	s = await(t, f, "the delayed job", func(now *State) bool { return len(story(s, now)) > 0 })
	if e := s.Events[len(s.Events)-1]; e.What != Enqueued || e.Queue != "later" || (e.Note != "due in 1h" && e.Note != "due in 59m59s") {
		t.Errorf("%+v", e)
	}

	job := claim(t, q, time.Minute)
	s = tells(t, f, s, "claimed emails attempt 1 of 2")
	if e := s.Events[len(s.Events)-1]; e.JobID != job.ID || e.Owner != job.LockedBy || e.Kind != "send" || e.Attempt != 1 || e.Count != 1 {
		t.Errorf("claim: %+v", e)
	}
	do(t, given(q.Release(ctx, job.Lease())))
	s = tells(t, f, s, "released emails")
	job = claim(t, q, time.Minute)
	s = tells(t, f, s, "claimed emails attempt 1 of 2")
	if _, err := q.Retry(ctx, job.Lease(), "timeout", 0); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "retried emails attempt 1 of 2, again at once")
	job = claim(t, q, time.Microsecond)
	s = tells(t, f, s, "claimed emails attempt 2 of 2")
	if _, err := q.Reclaim(ctx, 10); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "buried emails attempt 2 of 2, worker lost")
	if e := s.Events[len(s.Events)-1]; e.Owner != job.LockedBy {
		t.Errorf("who lost it: %+v", e)
	}
	if _, err := q.Redrive(ctx, "somebody", job.ID); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "redriven emails")
	claim(t, q, time.Microsecond)
	s = tells(t, f, s, "claimed emails attempt 1 of 2")
	if _, err := q.Reclaim(ctx, 10); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "reclaimed emails attempt 1 of 2")
	job = claim(t, q, time.Minute)
	s = tells(t, f, s, "claimed emails attempt 2 of 2")
	if status, err := q.Retry(ctx, job.Lease(), "timeout", 0); err != nil || status != queue.Failed {
		t.Fatal(status, err)
	}
	s = tells(t, f, s, "failed emails attempt 2 of 2")
	if _, err := q.Redrive(ctx, "somebody", job.ID); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "redriven emails")
	job = claim(t, q, time.Minute)
	do(t, q.Complete(ctx, job.Lease()))
	tells(t, f, s, "claimed emails attempt 1 of 2", "completed emails attempt 1 of 2")
}

func TestStreamTellsWhatOtherClientsWrite(t *testing.T) {
	t.Parallel()
	f, _, psql := streams(t)
	s := f.State()
	exec(t, psql, "INSERT INTO leasetop.jobs (id, queue, status) VALUES (1, 'raw', 'dead')")
	s = tells(t, f, s, "enqueued raw as dead")
	exec(t, psql, "UPDATE leasetop.jobs SET id = 2, queue = 'other' WHERE id = 1")
	s = tells(t, f, s, "edited other moved from raw")
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'pending', attempts = 3, updated_at = now() WHERE id = 2")
	s = tells(t, f, s, "redriven other")
	exec(t, psql, "UPDATE leasetop.jobs SET run_at = 'infinity' WHERE id = 2")
	s = tells(t, f, s, "edited other due now")
	exec(t, psql, "BEGIN")
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) VALUES ('aborted')")
	exec(t, psql, "ROLLBACK")
	exec(t, psql, "DELETE FROM leasetop.jobs")
	s = tells(t, f, s, "deleted other")
	exec(t, psql, "TRUNCATE leasetop.jobs")
	tells(t, f, s, "truncated  every job of every queue")
}

func TestStreamToldFromASlotSnapshotKnowsWhatWasThere(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	q := open(t, url)
	for range 3 {
		enqueue(t, q, queue.NewJob{})
	}
	dead, lost, alive := claim(t, q, time.Minute), claim(t, q, time.Microsecond), claim(t, q, time.Hour)
	do(t, q.Bury(t.Context(), dead.Lease(), "bad input"))
	f := start(t, q, Options{})
	s := await(t, f, "every connection up", attached)
	if _, err := q.Reclaim(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "reclaimed emails attempt 1 of 5")
	if _, err := q.Redrive(t.Context(), "somebody", dead.ID); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "redriven emails")
	do(t, given(q.Release(t.Context(), alive.Lease())))
	s = tells(t, f, s, "released emails")
	for i, id := range []int64{lost.ID, dead.ID, alive.ID} {
		if e := s.Events[len(s.Events)-3+i]; e.JobID != id {
			t.Errorf("event %+v is about another job", e)
		}
	}
}

func TestManyChangesOfOneTransactionAreOneEvent(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	s := f.State()
	jobs := make([]queue.NewJob, 1000)
	for i := range jobs {
		jobs[i].Queue = "emails"
	}
	if _, err := q.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "enqueued emails 1,000 jobs")
	if e := s.Events[len(s.Events)-1]; e.Count != 1000 || e.JobID != 0 {
		t.Errorf("%+v", e)
	}
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'dead', updated_at = now()")
	tells(t, f, s, "buried emails 1,000 jobs")
	s = await(t, f, "the dead letters", func(s *State) bool { return s.Dead.Total == 1000 && len(s.Dead.Latest) > 0 })
	if len(s.Dead.Latest) != deadShown || s.Dead.Signal > 3 {
		t.Errorf("%d shown after %d signals", len(s.Dead.Latest), s.Dead.Signal)
	}
	await(t, f, "depths and rates", func(s *State) bool {
		if len(s.Depths.Queues) != 1 {
			return false
		}
		d := s.Depths.Queues[0]
		return d.Dead == 1000 && d.Rates == FromWAL && d.Rate.In > 0 && d.Rate.Out > 0
	})
}

func TestHeartbeatsMoveLeasesAndAreRoutine(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := open(t, testdb.On(t, server))
	f := start(t, q, Options{Poll: -1}) // whatever moves, the stream moved it
	await(t, f, "every connection up", attached)
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	s := await(t, f, "the claim's lease", func(s *State) bool { return len(s.Leases.List) == 1 })
	first := s.Leases.List[0]
	if first.JobID != job.ID || first.Owner != job.LockedBy || !first.ExpiresAt.Equal(*job.LeaseExpiresAt) || s.Leases.Total != 1 || first.Attempts != 1 {
		t.Errorf("lease %+v of job %+v", first, job)
	}
	events := len(s.Events)
	if beat, err := q.Heartbeat(t.Context(), []queue.Renewal{{Lease: job.Lease(), For: time.Hour}}); err != nil || len(beat.Renewed) != 1 {
		t.Fatal(beat, err)
	}
	s = await(t, f, "the renewed lease", func(s *State) bool { return s.Leases.Renewals == 1 })
	if l := s.Leases.List[0]; l.ExpiresAt.Sub(first.ExpiresAt) < 50*time.Minute || len(s.Events) != events+1 {
		t.Errorf("lease %+v, %d events after %d", l, len(s.Events), events)
	} else if e := s.Events[events]; e.What != Renewed || e.JobID != job.ID || e.Owner != job.LockedBy || !e.Routine() {
		t.Errorf("%+v", e)
	}
	do(t, q.Complete(t.Context(), job.Lease()))
	await(t, f, "no lease", func(s *State) bool { return len(s.Leases.List) == 0 && s.Leases.Total == 0 })
}

func TestStreamBringsThePollForward(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := open(t, testdb.On(t, server))
	f := start(t, q, Options{Poll: time.Hour})
	await(t, f, "every connection up", attached)
	enqueue(t, q, queue.NewJob{})
	await(t, f, "the job in the depths", func(s *State) bool { return len(s.Depths.Queues) == 1 && s.Depths.Queues[0].Ready == 1 })
}

func slots(t *testing.T, psql *pgx.Conn) int {
	t.Helper()
	return number(t, psql, "SELECT count(*) FROM pg_replication_slots")
}

func TestCloseLeavesNoSlotAndNoConnection(t *testing.T) {
	t.Parallel()
	f, _, psql := streams(t)
	if n := slots(t, psql); n != 1 {
		t.Fatalf("%d slots while it streams", n)
	}
	f.Close()
	f.Close()
	if n := slots(t, psql); n != 0 {
		t.Errorf("%d slots are left", n)
	}
	if n := number(t, psql, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'leasetop feed%' AND application_name NOT LIKE '%poll'"); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

func TestEndedContextClosesTheFeed(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	f := Start(ctx, open(t, url), Options{})
	await(t, f, "every connection up", attached)
	cancel()
	f.Close()
	if n := slots(t, client(t, url)); n != 0 {
		t.Errorf("%d slots are left", n)
	}
}

func TestTerminatedWalsenderIsReplaced(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	for range 3 {
		s := f.State()
		lost := s.WAL.Since
		exec(t, psql, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
		await(t, f, "another stream", func(s *State) bool { return s.WAL.OK && s.WAL.Since.After(lost) })
		s = f.State()
		enqueue(t, q, queue.NewJob{})
		tells(t, f, s, "enqueued emails")
		if n := slots(t, psql); n != 1 {
			t.Errorf("%d slots", n)
		}
	}
	// It reads the server's last word, or first finds that it cannot write any more.
	ended := regexp.MustCompile(`^WAL stream: .*(terminating connection|broken pipe|connection reset)`)
	if notes := healthOf(f.State()); len(notes) != 6 || !ended.MatchString(notes[0]) || !strings.Contains(notes[1], "works again") {
		t.Errorf("health: %q", notes)
	}
}

func TestIdleTableConfirmsTheServersPosition(t *testing.T) {
	t.Parallel()
	f, _, psql := streams(t)
	exec(t, psql, "CREATE TABLE other (t text)")
	exec(t, psql, "INSERT INTO other SELECT repeat('x', 500) FROM generate_series(1, 20000)")
	var target string
	if err := psql.QueryRow(t.Context(), "SELECT pg_current_wal_lsn()").Scan(&target); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); number(t, psql,
		"SELECT count(*) FROM pg_replication_slots WHERE confirmed_flush_lsn >= $1::text::pg_lsn", target) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the slot stays behind")
		}
		if !rest(t.Context(), 50*time.Millisecond, nil) {
			t.Fatal("ended")
		}
	}
	if events := story(&State{}, f.State()); len(events) != 0 {
		t.Errorf("told of another table: %q", events)
	}
}

func TestTwoFeedsOfOneQueue(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	other := start(t, q, Options{})
	await(t, other, "every connection up", attached)
	if n := slots(t, psql); n != 2 {
		t.Errorf("%d slots", n)
	}
	s, os := f.State(), other.State()
	enqueue(t, q, queue.NewJob{})
	tells(t, f, s, "enqueued emails")
	tells(t, other, os, "enqueued emails")
}

func TestServerDownAndUpAgain(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	q := open(t, url)
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	do(t, server.Halt(t.Context(), "fast"))
	s := await(t, f, "every connection down", func(s *State) bool { return !s.WAL.OK && !s.Notify.OK && !s.Polling.OK })
	for _, l := range []Link{s.WAL, s.Notify, s.Polling} {
		if l.Reason == "" || strings.Contains(l.Reason, "\n") {
			t.Errorf("reason %q", l.Reason)
		}
	}
	do(t, server.Restart(t.Context(), "fast"))
	s = await(t, f, "every connection up again", attached)
	exec(t, client(t, url), "INSERT INTO leasetop.jobs (queue, status) VALUES ('raw', 'dead')")
	tells(t, f, s, "enqueued raw as dead")
	await(t, f, "the dead letter", func(s *State) bool { return s.Dead.Total == 1 && len(s.Dead.Latest) == 1 })
}

func TestServerDownAtTheStart(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := open(t, testdb.On(t, server))
	do(t, server.Halt(t.Context(), "fast"))
	f := start(t, q, Options{})
	await(t, f, "a reason", func(s *State) bool { return !s.Polling.OK && strings.Contains(s.Polling.Reason, "dial") })
	do(t, server.Restart(t.Context(), "fast"))
	await(t, f, "every connection up", attached)
}
