package watch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// The stream begins with a snapshot that takes its time to be read, while polls go on.
// What happens meanwhile is told once and counted once, for the seconds in which it
// happened. Here a policy has every row take a hundredth of a second, for the seed alone.
func TestWhatHappensWhileTheStreamAttachesIsToldOnce(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off"))
	psql, q := client(t, url), open(t, url)
	for _, sql := range []string{
		"INSERT INTO leasetop.jobs (queue, run_at) SELECT 'old', now() + interval '1 day' FROM generate_series(1, 200)",
		"CREATE ROLE watcher LOGIN REPLICATION",
		"GRANT USAGE ON SCHEMA leasetop TO watcher",
		"GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO watcher",
		"ALTER TABLE leasetop.jobs ENABLE ROW LEVEL SECURITY",
		`CREATE POLICY slow ON leasetop.jobs TO watcher USING (CASE current_setting('application_name')
			WHEN 'leasetop feed wal seed' THEN pg_sleep(0.01)::text IS NOT NULL ELSE true END)`,
	} {
		exec(t, psql, sql)
	}
	f := start(t, open(t, strings.Replace(url, "postgres@", "watcher@", 1)), Options{})
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
