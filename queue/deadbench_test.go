package queue

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// BenchmarkDeadLetters reads 100,000 dead letters of four queues, 1,000,000 with
// LEASETOP_BENCH_FULL:
//
//	LEASETOP_BENCH_FULL=1 go test -run '^$' -bench DeadLetters -benchtime 3x ./queue/
//
// Beside the time of the whole it reports that of the longest statement.
func BenchmarkDeadLetters(b *testing.B) {
	all := 100_000
	if os.Getenv("LEASETOP_BENCH_FULL") != "" {
		all = 1_000_000
	}
	q, longest := openTimed(b)
	exec(b, q, `insert into leasetop.jobs (queue, kind, status, attempts, last_error, updated_at, payload, errors)
		select (array['emails', 'images', 'billing', 'reports'])[1 + n % 4], 'k' || n % 3, (array['failed', 'dead', 'failed'])[1 + n % 3], 5,
			(array['SMTP 421 rate limited by 10.0.0.' || n % 250, 'connection refused', 'no such template "t' || n % 90 || '"', 'timeout after ' || n % 9000 || ' ms'])[1 + n / 7 % 4],
			now() - n * interval '0.1 s', jsonb_build_object('to', 'user' || n || '@example.com', 'n', n),
			jsonb_build_array(jsonb_build_object('attempt', 1, 'worker', 'host:1:ab/w1#' || n, 'outcome', 'retry', 'error', 'timeout'),
				jsonb_build_object('attempt', 2, 'worker', 'host:1:ab/w2#' || n, 'outcome', 'failed', 'error', 'timeout'))
		from generate_series(1, $1) n`, all)
	exec(b, q, "vacuum analyze leasetop.jobs")
	same := func(got, want int) {
		if got != want {
			b.Fatalf("%d, want %d", got, want)
		}
	}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"page", func() { same(len(must[DeadFound](b)(q.DeadLetters(b.Context(), saying(""), DeadStretch{})).Jobs), 100) }},
		{"page by text", func() {
			same(len(must[DeadFound](b)(q.DeadLetters(b.Context(), saying("421"), DeadStretch{})).Jobs), 100)
		}},
		{"page of what is not there", func() {
			same(must[DeadFound](b)(q.DeadLetters(b.Context(), saying("nothing"), DeadStretch{})).Looked, 10_000)
		}},
		{"groups", func() { same(int(must[DeadGroups](b)(q.DeadGroups(b.Context(), saying(""), 0)).Total), all) }},
		{"groups by text", func() { same(int(must[DeadGroups](b)(q.DeadGroups(b.Context(), saying("421"), 0)).Looked), all) }},
		{"groups by text of the newest 50,000", func() { must[DeadGroups](b)(q.DeadGroups(b.Context(), saying("421"), 50_000)) }},
		{"matching", func() { same(len(must[[]int64](b)(q.Matching(b.Context(), Filter{Statuses: DeadLetters}, nil))), all) }},
		{"matching by text", func() {
			must[[]int64](b)(q.Matching(b.Context(), Filter{Statuses: DeadLetters, Where: saying("421")}, nil))
		}},
		{"matching by id", func() { same(len(must[[]int64](b)(q.Matching(b.Context(), Filter{}, nil))), all) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.do()
			longest.Store(0)
			for b.Loop() {
				c.do()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
			b.ReportMetric(float64(time.Duration(longest.Load()).Microseconds())/1000, "ms/longest-statement")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// openTimed is a queue of which it is known how long its longest transaction took.
func openTimed(b *testing.B) (*Queue, *atomic.Int64) {
	b.Helper()
	timed := &timing{}
	config := must[*pgxpool.Config](b)(pgxpool.ParseConfig(open(b).Pool().Config().ConnString()))
	config.ConnConfig.Tracer = timed
	pool := must[*pgxpool.Pool](b)(pgxpool.NewWithConfig(b.Context(), config))
	b.Cleanup(pool.Close)
	return must[*Queue](b)(New(pool, "")), &timed.longest
}

type timing struct{ longest atomic.Int64 }

type began struct{}

func (*timing) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, began{}, time.Now())
}

func (t *timing) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	t.ended(ctx)
}

func (*timing) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return context.WithValue(ctx, began{}, time.Now())
}

func (*timing) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (t *timing) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	t.ended(ctx)
}

func (t *timing) ended(ctx context.Context) {
	took := int64(time.Since(ctx.Value(began{}).(time.Time)))
	for {
		longest := t.longest.Load()
		if took <= longest || t.longest.CompareAndSwap(longest, took) {
			return
		}
	}
}
