package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// many makes jobs of every status in several queues: n of each.
const many = `INSERT INTO leasetop.jobs (queue, status, run_at, locked_by, locked_at, lease_expires_at, updated_at)
	SELECT 'q' || n % 7, s, now() + (n % 3 - 1) * interval '1 hour', CASE s WHEN 'processing' THEN 'w' || n END, now(),
		CASE s WHEN 'processing' THEN now() + interval '1 hour' END, now() - n * interval '1 s'
	FROM generate_series(1, $1) AS n, unnest(array['pending', 'processing', 'completed', 'failed', 'dead']) AS s`

func sum(s *State) (d queue.QueueDepth) {
	for _, one := range s.Depths.Queues {
		d.Ready += one.Ready
		d.Scheduled += one.Scheduled
		d.Processing += one.Processing
		d.Completed += one.Completed
		d.Failed += one.Failed
		d.Dead += one.Dead
	}
	return d
}

func TestSeedReadsEveryJobAcrossItsChunks(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, many, 3*firstChunk)
	f := start(t, q, Options{Poll: -1})
	s := await(t, f, "counts from the stream", func(s *State) bool { return s.Depths.Source == FromWAL })
	n := int64(3 * firstChunk)
	if d := sum(s); d.Ready != n*2/3 || d.Scheduled != n/3 || d.Processing != n || d.Completed != n || d.Failed != n || d.Dead != n || len(s.Depths.Queues) != 7 {
		t.Errorf("%+v in %d queues", d, len(s.Depths.Queues))
	}
	if s.Leases.Total != int(n) || len(s.Leases.List) != leasesShown {
		t.Errorf("%d leases of %d", len(s.Leases.List), s.Leases.Total)
	}
	if drift, err := f.Reconcile(t.Context()); err != nil || drift.Off != 0 || drift.Jobs != 4*n {
		t.Errorf("%+v, %v", drift, err)
	}
}

// A statement_timeout that does not let a chunk be read makes the chunks smaller, and
// what was read before is not read again. Here every row takes a millisecond.
func TestSeedStaysWithinTheRolesStatementTimeout(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	psql := client(t, url)
	exec(t, psql, many, 450)
	for _, sql := range []string{
		"CREATE ROLE slow LOGIN", "GRANT USAGE ON SCHEMA leasetop TO slow", "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO slow",
		"ALTER TABLE leasetop.jobs ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY slowly ON leasetop.jobs TO slow USING (pg_sleep(0.001)::text IS NOT NULL)",
		"ALTER ROLE slow SET statement_timeout = '400ms'",
	} {
		exec(t, psql, sql)
	}
	f := start(t, open(t, strings.Replace(url, "postgres@", "slow@", 1)), Options{Poll: -1, NoWAL: true})
	exec(t, psql, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	var snapshot string
	do(t, psql.QueryRow(t.Context(), "SELECT pg_export_snapshot()").Scan(&snapshot))
	file, err := f.file(t.Context(), psql.PgConn())
	do(t, err)
	i, err := f.imports(t.Context(), snapshot, file)
	do(t, err)
	defer i.close()
	if _, exact, err := i.completed(t.Context()); err != nil || exact {
		t.Errorf("the completed jobs are counted exactly: %v, %v", exact, err)
	}
	var all comparing
	do(t, i.read(t.Context(), &all))
	if all.jobs() != 4*450 || i.chunk >= firstChunk {
		t.Errorf("%d jobs, at last in chunks of %d", all.jobs(), i.chunk)
	}
}

func TestMoreJobsThanItMayCountArePolled(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, many, 100)
	f := start(t, q, Options{MostJobs: 399})
	s := await(t, f, "the reason", func(s *State) bool {
		return strings.Contains(s.WAL.Reason, "more than 399 jobs") && s.Depths.Source == Polled
	})
	if d := sum(s); d.Dead != 100 || s.WAL.OK {
		t.Errorf("%+v", d)
	}
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE status = 'pending'")
	poke(f.retryWAL)
	s = await(t, f, "counts from the stream", func(s *State) bool { return s.Depths.Source == FromWAL })
	if d := sum(s); d.Dead != 100 || d.Ready+d.Scheduled != 0 {
		t.Errorf("%+v", d)
	}
	exec(t, psql, many, 50) // it grows over the limit while it streams
	s = await(t, f, "polled counts", func(s *State) bool { return !s.WAL.OK && s.Depths.Source == Polled && sum(s).Dead == 150 })
	if !strings.Contains(s.WAL.Reason, "more than 399 jobs") {
		t.Errorf("reason %q", s.WAL.Reason)
	}
}

func TestScheduledJobsBecomeReadyByTheClockAlone(t *testing.T) {
	t.Parallel()
	q := open(t, testdb.On(t, testdb.Server(t)))
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	enqueue(t, q, queue.NewJob{Delay: 700 * time.Millisecond})
	s := await(t, f, "a scheduled job", func(s *State) bool { return sum(s).Scheduled == 1 })
	if sum(s).Ready != 0 {
		t.Errorf("%+v", sum(s))
	}
	await(t, f, "a ready job", func(s *State) bool { return sum(s).Ready == 1 && sum(s).Scheduled == 0 })
	await(t, f, "its age", func(s *State) bool { return s.Depths.Queues[0].OldestReady > 0 })
}

func TestCompletedAreEstimatedWhereTheTableIsLargeAndCountedOnFromThere(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, fmt.Sprintf(`INSERT INTO leasetop.jobs (queue, status, payload)
		SELECT 'emails', 'completed', to_jsonb(repeat('x', 1500)) FROM generate_series(1, %d)`, wholePages*6))
	f := start(t, q, Options{})
	s := await(t, f, "counts from the stream", func(s *State) bool { return s.Depths.Source == FromWAL })
	before := s.Depths.Queues[0]
	if before.CompletedExact || before.Completed < wholePages*5 || before.Completed > wholePages*7 || before.Finished != 0 {
		t.Errorf("%+v", before)
	}
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	do(t, q.Complete(t.Context(), job.Lease()))
	s = await(t, f, "the completion", func(s *State) bool { return s.Depths.Queues[0].Finished == 1 })
	if d := s.Depths.Queues[0]; d.Completed != before.Completed+1 || d.CompletedExact {
		t.Errorf("%+v", d)
	}
}
