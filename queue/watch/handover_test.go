package watch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// slowToAttach returns a feed whose seed takes a hundredth of a second for each of so many
// jobs, and a client. A policy has it so, for the seed alone.
func slowToAttach(t *testing.T, jobs int) (*Feed, *queue.Queue, *pgx.Conn) {
	t.Helper()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off"))
	psql := client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, run_at) SELECT 'old', now() + interval '1 day' FROM generate_series(1, $1)", jobs)
	for _, sql := range []string{
		"CREATE ROLE watcher LOGIN REPLICATION",
		"GRANT USAGE ON SCHEMA leasetop TO watcher",
		"GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO watcher",
		"ALTER TABLE leasetop.jobs ENABLE ROW LEVEL SECURITY",
		`CREATE POLICY slow ON leasetop.jobs TO watcher USING (CASE current_setting('application_name')
			WHEN 'leasetop feed wal seed' THEN pg_sleep(0.01)::text IS NOT NULL ELSE true END)`,
	} {
		exec(t, psql, sql)
	}
	return start(t, open(t, strings.Replace(url, "postgres@", "watcher@", 1)), Options{}), open(t, url), psql
}

// The stream begins with a snapshot that takes its time to be read, while polls go on.
// What happens meanwhile is told once and counted once, for the seconds in which it
// happened.
func TestWhatHappensWhileTheStreamAttachesIsToldOnce(t *testing.T) {
	t.Parallel()
	f, q, psql := slowToAttach(t, 200)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- toil(ctx, q, "load") }()
	s := await(t, f, "polls while the stream attaches", func(s *State) bool { return s.Depths.Source == Polled && !s.WAL.OK })
	await(t, f, "another", func(now *State) bool {
		return now.Depths.Source == Polled && now.Depths.Read.After(s.Depths.Read.Add(time.Second))
	})
	s = await(t, f, "the stream", func(s *State) bool { return s.Depths.Source == FromWAL })
	since := s.Depths.Read
	s = await(t, f, "three seconds of it", func(s *State) bool { return s.Depths.Read.Sub(since) > 3*time.Second })
	stop()
	do(t, <-done)
	most := 0.0
	for _, d := range s.Depths.Queues {
		for _, in := range d.SparkIn {
			most = max(most, in)
		}
	}
	s = exact(t, f, psql)
	toldOnce(t, f)
	came := float64(number(t, psql, "SELECT count(*)::int FROM leasetop.jobs WHERE queue = 'load'"))
	busiest := float64(number(t, psql, `SELECT max(n)::int FROM (SELECT count(*) AS n FROM leasetop.jobs WHERE queue = 'load'
		GROUP BY floor(extract(epoch FROM created_at))) AS seconds`))
	for _, d := range s.Depths.Queues {
		if in := total(d.SparkIn); in > came || most > 2*busiest {
			t.Errorf("%s: %.0f are said to have come, %.0f within a second; it were %.0f, and no more than %.0f within one", d.Queue, in, most, came, busiest)
		}
	}
}

// Whichever of its two connections is lost in the middle of the seed, the feed says so and
// begins anew.
func TestConnectionLostWhileTheStreamAttaches(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{"wal": "", "wal seed": "terminating connection"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q, psql := slowToAttach(t, 150)
			waitFor(t, "a seed being read", func() bool {
				return number(t, psql, "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'leasetop feed wal seed' AND wait_event = 'PgSleep'") == 1
			})
			since := lastEvent(f.State())
			exec(t, psql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leasetop feed ' || $1", name)
			await(t, f, "the loss said", func(s *State) bool { return said(s, since, FromWAL, reason) && lastEvent(s) > since })
			enqueue(t, q, queue.NewJob{})
			claim(t, q, time.Hour)
			exact(t, f, psql)
			toldOnce(t, f)
			waitFor(t, "one slot", func() bool { return slots(t, psql) == 1 })
		})
	}
}
