package workers

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// BenchmarkWork measures jobs from claim to written outcome, one worker after
// another, all enqueued before: `jobs/s` is what the whole runtime does.
func BenchmarkWork(b *testing.B) {
	for _, bench := range []struct {
		name           string
		workers, slots int
	}{{"1x1", 1, 1}, {"4x4", 4, 4}, {"2x50", 2, 50}} {
		b.Run(bench.name, func(b *testing.B) {
			q := openAt(b, testdb.New(b), func(c *pgxpool.Config) { c.MaxConns = 16 })
			for left := b.N; left > 0; left -= 5000 {
				enqueue(b, q, many(min(left, 5000), queue.NewJob{})...)
			}
			exec(b, q, "VACUUM ANALYZE leasetop.jobs")
			done := make(chan struct{}, b.N)
			p := newPool(b, q, on(func(context.Context, *queue.Job) error { done <- struct{}{}; return nil }), Options{})
			for range bench.workers {
				spawn(b, p, bench.slots, "q")
			}
			b.ResetTimer()
			start(b, p)
			for range b.N {
				<-done
			}
			waitDone(b, p)
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(float64(p.ClaimLatency().P50.Microseconds()), "claim-p50-µs")
		})
	}
}

// BenchmarkStart measures how long an idle pool takes from the call of Enqueue to
// the start of the handler.
func BenchmarkStart(b *testing.B) {
	q := openQueue(b)
	began := make(chan time.Time, 1)
	p := newPool(b, q, on(func(context.Context, *queue.Job) error { began <- time.Now(); return nil }), Options{})
	idle, listens := p.signals.idle.listen(), p.signals.listens.listen()
	start(b, p)
	receive(b, "LISTEN", listens)
	for range 3 {
		spawn(b, p, 1, "q")
		receive(b, "a worker to find nothing", idle)
	}
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		sent := time.Now()
		enqueue(b, q, queue.NewJob{})
		took = append(took, (<-began).Sub(sent))
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
