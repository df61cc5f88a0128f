package watch

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// halfAttached returns a feed that stops in the middle of its seed until it is let go on,
// a channel that tells when it is there, and a client.
func halfAttached(t *testing.T) (f *Feed, q *queue.Queue, psql *pgx.Conn, there chan struct{}, goOn func()) {
	t.Helper()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off"))
	q, psql = open(t, url), client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, run_at) SELECT 'old', now() + interval '1 day' FROM generate_series(1, 200)")
	there, on := signal(), make(chan struct{})
	f = start(t, q, Options{seeding: func(ctx context.Context) {
		poke(there)
		select {
		case <-on:
		case <-ctx.Done():
		}
	}})
	return f, q, psql, there, sync.OnceFunc(func() { close(on) })
}

// The stream begins with a snapshot that takes its time to be read, while polls go on.
// What happens meanwhile is told once and counted once, for the seconds in which it
// happened.
func TestWhatHappensWhileTheStreamAttachesIsToldOnce(t *testing.T) {
	t.Parallel()
	f, q, psql, _, goOn := halfAttached(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- toil(ctx, q, "load") }()
	s := await(t, f, "polls while the stream attaches", func(s *State) bool { return s.Depths.Source == Polled && !s.WAL.OK })
	await(t, f, "another", func(now *State) bool {
		return now.Depths.Source == Polled && now.Depths.Read.After(s.Depths.Read.Add(time.Second))
	})
	goOn()
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
	for _, name := range []string{"wal", "wal seed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q, psql, there, goOn := halfAttached(t)
			<-there
			since := lastEvent(f.State())
			exec(t, psql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leasetop feed ' || $1", name)
			goOn()
			await(t, f, "the loss said", func(s *State) bool { return said(s, since, FromWAL, "") && lastEvent(s) > since })
			enqueue(t, q, queue.NewJob{})
			claim(t, q, time.Hour)
			exact(t, f, psql)
			toldOnce(t, f)
			waitFor(t, "one slot", func() bool { return slots(t, psql) == 1 })
		})
	}
}
