package queue

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Run alone, on a quiet machine; the first is on 50,000 jobs and on a million:
//
//	go test -run '^$' -bench RedrivePlan -benchtime 1x ./queue/
//	LEASETOP_BENCH_FULL=1 go test -run '^$' -bench RedrivePlan -benchtime 1x -timeout 1h ./queue/
//
// A plan from its start to its end, then its undo, unpaced, on a server that syncs. One claim
// after the other goes on beside it all the while, and before and after it, for comparison.
func BenchmarkRedrivePlan(b *testing.B) {
	jobs := 50_000
	if os.Getenv("LEASETOP_BENCH_FULL") != "" {
		jobs = 1_000_000
	}
	server := testdb.Server(b, "fsync=on")
	took := &timings{}
	config := must[*pgxpool.Config](b)(pgxpool.ParseConfig(testdb.On(b, server)))
	config.ConnConfig.Tracer = took
	pool := must[*pgxpool.Pool](b)(pgxpool.NewWithConfig(b.Context(), config))
	b.Cleanup(pool.Close)
	q := must[*Queue](b)(New(pool, ""))
	exec(b, q, `insert into leasetop.jobs (queue, kind, payload, status, attempts, last_error, errors, updated_at)
		select 'emails', 'send', '{"to": "user@example.com", "template": "welcome"}', 'failed', 5, 'SMTP 421 rate limited',
			(select jsonb_agg(jsonb_build_object('attempt', a, 'at', now(), 'worker', 'w1', 'outcome', 'retried', 'error', 'SMTP 421 rate limited')) from generate_series(1, 5) a),
			now() - n * interval '1 millisecond' from generate_series(1, $1) n`, jobs)
	exec(b, q, "vacuum analyze leasetop.jobs")
	ids := deadIDs(b, q, "")

	for b.Loop() {
		alone := took.claims(b, q, func() { time.Sleep(5 * time.Second) })
		began := time.Now()
		plan := must[Plan](b)(q.StartPlan(b.Context(), "ann", NewPlan{IDs: ids}))
		b.ReportMetric(time.Since(began).Seconds(), "s/start")
		for _, direction := range []string{"redrive", "undo"} {
			if direction == "undo" {
				began = time.Now()
				must[Plan](b)(q.Plan(b.Context(), plan.ID))
				b.ReportMetric(milliseconds(time.Since(began)), "ms/count")
				must[Plan](b)(q.UndoPlan(b.Context(), "ann", "", plan.ID))
			}
			took.reset()
			var elapsed time.Duration
			beside := took.claims(b, q, func() {
				began := time.Now()
				must[Plan](b)(q.ExecutePlan(b.Context(), plan.ID, nil))
				elapsed = time.Since(began)
			})
			batches := took.of("leasetop plan_" + direction)
			b.ReportMetric(float64(jobs)/elapsed.Seconds(), direction+"-jobs/s")
			b.ReportMetric(milliseconds(share(batches, 0.5)), direction+"-p50-ms/transaction")
			b.ReportMetric(milliseconds(share(batches, 0.99)), direction+"-p99-ms/transaction")
			b.ReportMetric(milliseconds(share(batches, 1)), direction+"-max-ms/transaction")
			b.ReportMetric(milliseconds(share(beside, 0.5)), direction+"-p50-ms/claim")
			b.ReportMetric(milliseconds(share(beside, 0.99)), direction+"-p99-ms/claim")
		}
		if p := must[Plan](b)(q.Plan(b.Context(), plan.ID)); p.Undone != int64(jobs) {
			b.Fatalf("%+v", p)
		}
		alone = append(alone, took.claims(b, q, func() { time.Sleep(5 * time.Second) })...)
		slices.Sort(alone)
		b.ReportMetric(milliseconds(share(alone, 0.5)), "alone-p50-ms/claim")
		b.ReportMetric(milliseconds(share(alone, 0.99)), "alone-p99-ms/claim")
	}
	b.ReportMetric(0, "ns/op")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// share returns the duration that so large a share of sorted ones does not exceed.
func share(sorted []time.Duration, of float64) time.Duration {
	return sorted[int(of*float64(len(sorted)-1))]
}

// timings keeps how long each transaction took, by its statements.
type timings struct {
	mu    sync.Mutex
	spent map[string][]time.Duration
}

type underWay struct {
	began     time.Time
	statement string
}

type underWayKey struct{}

func (s *timings) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	all := ""
	for _, one := range data.Batch.QueuedQueries {
		all += one.SQL
	}
	return context.WithValue(ctx, underWayKey{}, underWay{time.Now(), all})
}

func (s *timings) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (s *timings) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	u := ctx.Value(underWayKey{}).(underWay)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent == nil {
		s.spent = map[string][]time.Duration{}
	}
	s.spent[u.statement] = append(s.spent[u.statement], time.Since(u.began))
}

func (s *timings) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (s *timings) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *timings) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = nil
}

// of returns how long the transactions of a statement took, sorted.
func (s *timings) of(statement string) (all []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text, spent := range s.spent {
		if strings.Contains(text, statement+" ") {
			all = append(all, spent...)
		}
	}
	slices.Sort(all)
	return all
}

// claims claims jobs one by one, five milliseconds apart, for as long as do lasts, and
// returns how long the claims took, sorted.
func (s *timings) claims(b *testing.B, q *Queue, do func()) (took []time.Duration) {
	ctx, cancel := context.WithCancel(b.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			ids, err := q.Enqueue(b.Context(), NewJob{Queue: "reports"})
			if err != nil {
				b.Error(err)
				return
			}
			began := time.Now()
			jobs, err := q.Claim(b.Context(), ClaimRequest{Queue: "reports", Owner: owner(), Lease: time.Minute, Limit: 1})
			took = append(took, time.Since(began))
			if err != nil || len(jobs) != 1 {
				b.Error(ids, jobs, err)
				return
			}
			if err := q.Complete(b.Context(), jobs[0].Lease()); err != nil {
				b.Error(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	do()
	cancel()
	<-over
	slices.Sort(took)
	return took
}
