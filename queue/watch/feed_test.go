package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func listening(s *State) bool { return s.Notify.OK && s.Polling.OK }

func TestDeadLetterOfAnyWriterAppearsBySignal(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	s := await(t, f, "the connections up", listening)
	psql := client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, status, last_error) VALUES ('raw', 'dead', E'no\\x1b[31m way')")
	signals := s.Dead.Signal
	s = await(t, f, "the dead letter", func(s *State) bool { return len(s.Dead.Latest) == 1 })
	if d := s.Dead; d.Total != 1 || d.Latest[0].LastError != "no\x1b[31m way" || d.Source != Notice || d.Signal <= signals-1 || d.At.IsZero() {
		t.Errorf("%+v", d)
	}
	exec(t, psql, "DELETE FROM leasetop.jobs")
	await(t, f, "none", func(s *State) bool { return len(s.Dead.Latest) == 0 && s.Dead.Total == 0 })
}

func TestSignalsAreCountedAndReadingsAreNot(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	s := await(t, f, "the connections up", listening)
	began := s.Dead.Signal
	psql := client(t, url)
	for range 100 {
		exec(t, psql, "INSERT INTO leasetop.jobs (queue, status) VALUES ('raw', 'failed')")
	}
	await(t, f, "all signals", func(s *State) bool { return s.Dead.Signal >= began+100 })
	await(t, f, "the newest 50, and that there are more", func(s *State) bool {
		return len(s.Dead.Latest) == 50 && s.Dead.Latest[0].ID == 100 && s.Dead.Total == 50 && s.Dead.Capped
	})
	f.Refresh()
	await(t, f, "how many there are", func(s *State) bool { return s.Dead.Total == 100 && !s.Dead.Capped })
}

func TestTerminatedListenIsReplacedAndReadAgain(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	s := await(t, f, "the connections up", listening)
	since := s.Notify.Since
	psql := client(t, url)
	// In one transaction: by the time the feed listens again, the signal is long gone.
	exec(t, psql, "ALTER TABLE leasetop.jobs DISABLE TRIGGER USER")
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, status) VALUES ('raw', 'dead')")
	exec(t, psql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leasetop feed listen' AND datname = current_database()")
	s = await(t, f, "another connection", func(s *State) bool { return s.Notify.OK && s.Notify.Since.After(since) })
	await(t, f, "what was missed", func(s *State) bool { return len(s.Dead.Latest) == 1 })
	notes := healthOf(s)
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "LISTEN connection: terminating connection") || !strings.HasPrefix(notes[1], "LISTEN connection: works again") {
		t.Errorf("health: %q", notes)
	}
}

func TestMissingSchemaIsSaidAndItsArrivalNoticed(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url, err := server.Database(t.Context(), "empty")
	do(t, err)
	q := open(t, url)
	f := start(t, q, Options{})
	s := await(t, f, "the schema missing", func(s *State) bool { return s.Server.SchemaMissing && s.WAL.Reason != "connecting" })
	if !strings.Contains(s.Polling.Reason, "leasetop migrate up") || !strings.Contains(s.WAL.Reason, "leasetop migrate up") || s.Polling.OK {
		t.Errorf("%+v %+v", s.Polling, s.WAL)
	}
	if s.Server.Version == "" || s.Server.Database != "empty" || s.Server.User != "postgres" {
		t.Errorf("%+v", s.Server)
	}
	_, err = leasesql.Migrate(t.Context(), q.ConnConfig(), "")
	do(t, err)
	s = await(t, f, "all connections up", attached)
	if s.Server.SchemaMissing || s.Server.ReadOnly {
		t.Errorf("%+v", s.Server)
	}
	for {
		if _, err := leasesql.MigrateDown(t.Context(), q.ConnConfig(), ""); err != nil {
			break
		}
		if f.State().Server.SchemaMissing {
			break
		}
	}
	await(t, f, "the schema missing again", func(s *State) bool { return s.Server.SchemaMissing })
}

func TestPolledDifferencesTellEveryOutcome(t *testing.T) {
	t.Parallel()
	q := open(t, testdb.New(t))
	ctx := t.Context()
	f := start(t, q, Options{Poll: -1, NoWAL: true})
	s := await(t, f, "the connections up", listening)
	var jobs []queue.Job
	for range 6 {
		enqueue(t, q, queue.NewJob{})
		jobs = append(jobs, claim(t, q, time.Hour))
	}
	lost := enqueue(t, q, queue.NewJob{})
	claim(t, q, time.Microsecond)
	f.Refresh()
	s = await(t, f, "the claims", func(now *State) bool { return len(story(s, now)) == 7 })

	do(t, q.Complete(ctx, jobs[0].Lease()))
	if _, err := q.Retry(ctx, jobs[1].Lease(), "timeout", time.Hour); err != nil {
		t.Fatal(err)
	}
	do(t, q.Bury(ctx, jobs[2].Lease(), "bad"))
	do(t, given(q.Release(ctx, jobs[3].Lease())))
	if _, err := q.Pool().Exec(ctx, "DELETE FROM leasetop.jobs WHERE id = $1", jobs[4].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Heartbeat(ctx, []queue.Renewal{{Lease: jobs[5].Lease(), For: 2 * time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Reclaim(ctx, 10); err != nil {
		t.Fatal(err)
	}
	f.Refresh()
	s = await(t, f, "the outcomes", func(now *State) bool { return len(story(s, now)) == 7 })
	want := map[int64]What{jobs[0].ID: Completed, jobs[5].ID: Renewed, jobs[1].ID: Retried, jobs[2].ID: Buried, jobs[3].ID: Released, jobs[4].ID: Deleted, lost: Reclaimed}
	for _, e := range s.Events[len(s.Events)-7:] {
		if want[e.JobID] != e.What || e.Source != Polled {
			t.Errorf("job %d: %+v, want %s", e.JobID, e, want[e.JobID])
		}
	}
	if s.Leases.Total != 1 || s.Leases.Renewals != 1 || s.Leases.List[0].JobID != jobs[5].ID {
		t.Errorf("%+v", s.Leases)
	}
}

func TestPollReadsServerClockAndDepths(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := open(t, url)
	enqueue(t, q, queue.NewJob{})
	enqueue(t, q, queue.NewJob{Queue: "later", Delay: time.Hour})
	f := start(t, q, Options{NoWAL: true})
	s := await(t, f, "depths", func(s *State) bool { return s.Polling.OK && len(s.Depths.Queues) == 2 })
	if d := s.Depths; d.Queues[0].Queue != "emails" || d.Queues[0].Ready != 1 || d.Queues[1].Scheduled != 1 || d.Source != Polled || d.Read.IsZero() || d.At.IsZero() {
		t.Errorf("%+v", d)
	}
	if !s.Clock.Known || s.Clock.Skew.Abs() > time.Second {
		t.Errorf("%+v", s.Clock)
	}
	if s.Server.ReadOnly || s.Server.Host == "" || s.Server.Schema != "leasetop" || s.Server.Version == "" {
		t.Errorf("%+v", s.Server)
	}
	if s.WAL.OK || s.WAL.Reason != "switched off" {
		t.Errorf("%+v", s.WAL)
	}
	timeout := number(t, client(t, url), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'leasetop feed poll' AND datname = current_database()")
	if timeout != 1 {
		t.Errorf("%d polling connections", timeout)
	}
}

func TestPublishedStatesNeverChange(t *testing.T) {
	t.Parallel()
	f := start(t, open(t, testdb.New(t)), Options{NoWAL: true, Poll: -1})
	await(t, f, "the connections up", listening)
	var published []*State
	var copies [][]Event
	for i := range 20 * EventsKept {
		f.note(func() { f.happened(Event{What: Claimed, JobID: int64(i)}) })
		if i%100 == 0 {
			f.publish()
			published = append(published, f.State())
			copies = append(copies, slices.Clone(f.State().Events))
		}
	}
	for i, s := range published {
		if !slices.Equal(s.Events, copies[i]) {
			t.Fatalf("State %d changed after it was published", s.Version)
		}
	}
	if last := published[len(published)-1].Events; len(last) != EventsKept || last[0].Seq != last[EventsKept-1].Seq-EventsKept+1 {
		t.Errorf("%d events from %d to %d", len(last), last[0].Seq, last[len(last)-1].Seq)
	}
}

func TestABurstOfChangesIsFewStates(t *testing.T) {
	t.Parallel()
	f := start(t, open(t, testdb.New(t)), Options{NoWAL: true, Poll: -1})
	version := await(t, f, "the connections up", listening).Version
	began := time.Now()
	for i := range 10_000 {
		f.change(func() { f.happened(Event{What: Claimed, JobID: int64(i)}) })
	}
	s := await(t, f, "the last event", func(s *State) bool {
		return len(s.Events) > 0 && s.Events[len(s.Events)-1].JobID == 9999
	})
	if grown, most := s.Version-version, uint64(time.Since(began)/publishEvery)+2; grown > most {
		t.Errorf("%d States were published in the time of %d", grown, most)
	}
}

func TestChangedIsClosedForAnOldVersion(t *testing.T) {
	t.Parallel()
	f := start(t, open(t, testdb.New(t)), Options{NoWAL: true, Poll: -1})
	s := f.State()
	select {
	case <-f.Changed(s.Version - 1):
	default:
		t.Error("a newer State is there")
	}
	await(t, f, "the connections up", listening)
}
