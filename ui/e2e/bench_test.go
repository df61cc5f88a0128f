package e2e

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// Run alone, on a quiet machine:
//
//	LEASETOP_BENCH_FULL=1 go test -run '^$' -bench . ./ui/e2e/
//
// All of it is measured on the real binary in a terminal of 120×36, and each on a
// server of its own.

// shop is a database that the dashboard watches, and somebody else writes.
type shop struct {
	url  string
	conn *pgx.Conn
}

func openShop(b *testing.B, settings ...string) *shop {
	b.Helper()
	url := testdb.On(b, testdb.Server(b, settings...))
	return &shop{url: url, conn: connect(b, url)}
}

func connect(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (s *shop) exec(b *testing.B, sql string, args ...any) {
	b.Helper()
	if _, err := s.conn.Exec(b.Context(), sql, args...); err != nil {
		b.Fatal(err)
	}
}

// watch opens the dashboard.
func (s *shop) watch(b *testing.B) *term.Test {
	b.Helper()
	return term.Open(b, term.Options{
		Args: []string{binary, "--database-url", s.url}, Env: []string{"LEASETOP_HOME=" + b.TempDir()}, Width: 120, Height: 36,
	})
}

const live = "WAL ✓"

// Attaching to a large table: how long until the dashboard's first picture, until its
// counts are exact and live, and the most memory it held. A tenth of a table of 5
// million completed, 1 million pending and 100,000 dead, all of it with LEASETOP_BENCH_FULL.
func BenchmarkAttach(b *testing.B) {
	n := 100_000
	if os.Getenv("LEASETOP_BENCH_FULL") != "" {
		n = 1_000_000
	}
	s := openShop(b, "max_wal_size=8GB")
	s.exec(b, `insert into leasetop.jobs (queue, kind, payload, status, attempts)
		select 'done' || n % 10, 'send', '{"to": "user@example.com", "template": "welcome"}', 'completed', 1 from generate_series(1, $1) n`, 5*n)
	s.exec(b, `insert into leasetop.jobs (queue, kind, payload, run_at)
		select 'emails', 'send', '{"to": "user@example.com", "template": "welcome"}', now() + make_interval(secs => n % 10 / 9 * 86400 - n % 1000)
		from generate_series(1, $1) n`, n)
	s.exec(b, `insert into leasetop.jobs (queue, kind, status, attempts, last_error)
		select 'emails', 'send', 'dead', 5, 'SMTP 421 rate limited by mx' || n || '.example.com' from generate_series(1, $1) n`, n/10)
	s.exec(b, "vacuum analyze leasetop.jobs")
	s.exec(b, "checkpoint")
	// A poll's count ends in a plus when there are so many.
	counted := regexp.MustCompile(` emails +([0-9.,kM]+) +([0-9.,kM]+) +0 `)
	exact := func(f *term.Frame) bool {
		shown := counted.FindStringSubmatch(f.Text())
		return strings.Contains(f.Line(0), live) && shown != nil && number(shown[1]) == n/10*9 && number(shown[2]) == n/10
	}
	for b.Loop() {
		began := time.Now()
		tm := s.watch(b)
		tm.Expect("QUEUES")
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-to-first-picture")
		if err := tm.Wait("exact counts", time.Minute, exact); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-to-exact")
		time.Sleep(5 * time.Second) // what is held while it settles counts too
		peak, err := tm.Peak()
		if err != nil {
			b.Skip(err)
		}
		b.ReportMetric(float64(peak)/1e6, "MB-peak")
		tm.Close()
	}
	b.ReportMetric(0, "ns/op")
}

// number is a round number as a column shows it, whatever its width: 90,000 or 90.0k.
func number(shown string) int {
	unit := 1.0
	switch shown[len(shown)-1] {
	case 'k':
		unit = 1e3
	case 'M':
		unit = 1e6
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(shown, "kM"), ",", ""), 64)
	return int(math.Round(n * unit))
}

// What the dashboard costs: processor time and bytes to its terminal, a second each.
func BenchmarkCost(b *testing.B) {
	for _, load := range []struct {
		name    string
		changes int // a second
		leases  int
	}{
		{"at rest", 0, 0}, {"40 leases", 0, 40}, {"100 changes/s", 100, 0}, {"10000 changes/s", 10_000, 0},
	} {
		b.Run(load.name, func(b *testing.B) {
			settles, long := 5*time.Second, 20*time.Second
			if load.changes+load.leases == 0 {
				// The sparklines show for a minute how far they go back; and once a minute a
				// clock moves on, and for how long deaths have been counted.
				settles, long = 65*time.Second, time.Minute
			}
			for b.Loop() {
				s := openShop(b)
				s.exec(b, "insert into leasetop.jobs (queue, status) select 'emails', 'completed' from generate_series(1, 100)")
				worker := connect(b, s.url)
				renew := func(context.Context) error { return nil }
				if load.leases > 0 {
					s.exec(b, `insert into leasetop.jobs (queue, kind, status, attempts, locked_at, locked_by, lease_expires_at)
						select 'emails', 'send', 'processing', 1, now(), 'host:1:bench/w' || n % 8 || '#' || n, now() + interval '30 s' - n * interval '0.5 s'
						from generate_series(1, $1) n`, load.leases)
					renew = every(10*time.Second, func(ctx context.Context) error {
						_, err := worker.Exec(ctx, "update leasetop.jobs set lease_expires_at = now() + interval '30 s', updated_at = now() where status = 'processing'")
						return err
					})
				}
				if load.changes > 0 {
					renew = s.change(b, worker, load.changes)
				}
				done := background(b, renew)
				tm := s.watch(b)
				tm.Expect(live, "emails")
				time.Sleep(settles)
				before, spent, changed, silent := tm.Written(), processorTime(b, tm), s.changes(b), 0.0
				for range int(long / time.Second) {
					wrote := tm.Written()
					time.Sleep(time.Second)
					if tm.Written() == wrote {
						silent++
					}
				}
				b.ReportMetric(float64(tm.Written()-before)/long.Seconds(), "B/s")
				b.ReportMetric(100*silent/long.Seconds(), "%silent")
				b.ReportMetric(100*float64(processorTime(b, tm)-spent)/float64(long), "%cpu")
				b.ReportMetric(float64(s.changes(b)-changed)/long.Seconds(), "changes/s")
				done()
				tm.Close()
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func processorTime(b *testing.B, tm *term.Test) time.Duration {
	d, err := tm.Spent()
	if err != nil {
		b.Skip(err)
	}
	return d
}

// From a commit to the screen: jobs enter the queue "probe" while 1,000 changes a
// second go on elsewhere, and the time is measured until the screen counts each.
func BenchmarkLatency(b *testing.B) {
	const probes = 200
	for b.Loop() {
		s := openShop(b)
		done := background(b, s.change(b, connect(b, s.url), 1000))
		s.exec(b, "insert into leasetop.jobs (queue) values ('probe')")
		tm := s.watch(b)
		counted := regexp.MustCompile(` probe +([0-9,]+) `)
		shows := func(n int) {
			b.Helper()
			tm.Until(fmt.Sprintf("%d probes", n), func(f *term.Frame) bool {
				found := counted.FindStringSubmatch(f.Text())
				return found != nil && number(found[1]) >= n
			})
		}
		tm.Expect(live)
		shows(1)
		var took []time.Duration
		for n := range probes {
			time.Sleep(time.Duration(100+n*37%100) * time.Millisecond) // in step with nothing
			began := time.Now()
			s.exec(b, "insert into leasetop.jobs (queue) values ('probe')")
			shows(n + 2)
			took = append(took, time.Since(began))
		}
		done()
		tm.Close()
		slices.Sort(took)
		b.ReportMetric(float64(took[probes/2].Microseconds())/1000, "ms-median")
		b.ReportMetric(float64(took[probes*99/100].Microseconds())/1000, "ms-p99")
	}
	b.ReportMetric(0, "ns/op")
}

// lives has the jobs from and to go one step further, each in a transaction of its
// own: the job n is enqueued, n - 100 claimed, n - 120 renewed, n - 140 completed.
const lives = `
create procedure lives(first bigint, last bigint) language plpgsql as $$
begin
  for n in first..last loop
    insert into leasetop.jobs (id, queue, kind, payload)
      values (n, 'emails', 'send', '{"to": "user@example.com", "template": "welcome"}');
    commit;
    update leasetop.jobs set status = 'processing', attempts = attempts + 1, locked_at = now(), updated_at = now(),
      locked_by = 'host:1:bench/w' || n % 8 || '#' || n, lease_expires_at = now() + interval '30 s' where id = n - 100;
    commit;
    update leasetop.jobs set lease_expires_at = now() + interval '30 s', updated_at = now() where id = n - 120;
    commit;
    update leasetop.jobs set status = 'completed', locked_at = null, locked_by = null, lease_expires_at = null, updated_at = now() where id = n - 140;
    commit;
  end loop;
end $$`

// change changes so many rows a second, at a steady pace, each in a transaction of its own.
func (s *shop) change(b *testing.B, writer *pgx.Conn, perSecond int) func(context.Context) error {
	b.Helper()
	s.exec(b, lives)
	const first = 1_000_000
	s.exec(b, "call lives($1, $2)", first, first+140)
	for _, conn := range []*pgx.Conn{s.conn, writer} {
		if _, err := conn.Exec(b.Context(), "set leasetop_wakeup.quiet = on"); err != nil {
			b.Fatal(err)
		}
	}
	next, began := int64(first+141), time.Now()
	return every(40*time.Millisecond, func(ctx context.Context) error {
		due := first + 141 + int64(time.Since(began).Seconds()*float64(perSecond)/4)
		if due <= next {
			return nil
		}
		_, err := writer.Exec(ctx, "call lives($1, $2)", next, due-1)
		next = due
		return err
	})
}

// changes is how many rows were written since the server's start.
func (s *shop) changes(b *testing.B) int64 {
	b.Helper()
	var n int64
	if err := s.conn.QueryRow(b.Context(), "select n_tup_ins + n_tup_upd from pg_stat_user_tables where relid = 'leasetop.jobs'::regclass").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

// every does something again and again, until its context ends.
func every(d time.Duration, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			if err := do(ctx); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

// background does something until done is called.
func background(b *testing.B, do func(context.Context) error) (done func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	return func() {
		b.Helper()
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			b.Fatal(err)
		}
	}
}
