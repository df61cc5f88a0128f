package queue

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Run alone, on a quiet machine:
//
//	go test -run '^$' -bench . -benchtime 3s ./queue/
//
// Only ratios within one run mean anything.

func BenchmarkEnqueue(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			q := open(b)
			jobs := make([]NewJob, batch)
			for i := range jobs {
				jobs[i] = NewJob{Queue: "emails", Payload: []byte(`{"to": "user@example.com", "template": "welcome"}`)}
			}
			perSecond(b, batch, func() {
				if _, err := q.Enqueue(b.Context(), jobs...); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkClaimComplete(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			q := open(b)
			ready := 0
			leases := make([]Lease, 0, batch)
			var claiming, completing time.Duration
			perSecond(b, batch, func() {
				if ready < batch {
					b.StopTimer()
					exec(b, q, `insert into leasetop.jobs (queue, payload) select 'emails', '{"to": "user@example.com", "template": "welcome"}' from generate_series(1, 50000)`)
					ready += 50000
					b.StartTimer()
				}
				began := time.Now()
				jobs, err := q.Claim(b.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: batch})
				if err != nil || len(jobs) != batch {
					b.Fatal(len(jobs), err)
				}
				claimed := time.Now()
				leases = leases[:0]
				for i := range jobs {
					leases = append(leases, jobs[i].Lease())
				}
				if lost, err := q.CompleteMany(b.Context(), leases); err != nil || len(lost) > 0 {
					b.Fatal(lost, err)
				}
				claiming, completing = claiming+claimed.Sub(began), completing+time.Since(claimed)
				ready -= batch
			})
			b.ReportMetric(float64(b.N*batch)/claiming.Seconds(), "claims/s")
			b.ReportMetric(float64(b.N*batch)/completing.Seconds(), "completions/s")
		})
	}
}

func BenchmarkHeartbeat1000(b *testing.B) {
	q := open(b)
	exec(b, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, 1000)")
	var renewals []Renewal
	for _, job := range take(b, q, "emails", 1000) {
		renewals = append(renewals, Renewal{Lease: job.Lease(), For: time.Minute})
	}
	perSecond(b, 1000, func() {
		if beat, err := q.Heartbeat(b.Context(), renewals); err != nil || len(beat.Renewed) != 1000 {
			b.Fatal(len(beat.Renewed), err)
		}
	})
}

// What asking for READ COMMITTED explicitly costs: begin and commit in the same
// round trip, against the bare statement.
func BenchmarkTransaction(b *testing.B) {
	q := open(b)
	lease := claimed(b, q, NewJob{}, time.Minute)
	args := []any{[]int64{lease.ID}, []string{lease.Token}, []float64{60}, []float64{0}}
	conn, err := q.Pool().Acquire(b.Context())
	ok(b, err)
	defer conn.Release()
	none := func(pgx.CollectableRow) error { return nil }
	b.Run("pipelined", func(b *testing.B) {
		for b.Loop() {
			ok(b, q.writeOn(b.Context(), conn.Conn(), "heartbeat", args, none))
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			_, err := conn.Exec(b.Context(), q.Schema().Query("heartbeat"), args...)
			ok(b, err)
		}
	})
	b.Run("three round trips", func(b *testing.B) {
		for b.Loop() {
			ok(b, pgx.BeginTxFunc(b.Context(), conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
				_, err := tx.Exec(b.Context(), q.Schema().Query("heartbeat"), args...)
				return err
			}))
		}
	})
}

// perSecond runs do, which handles batch jobs, and reports jobs a second.
func perSecond(b *testing.B, batch int, do func()) {
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(0, "ns/op")
}

// A bulk enqueue by COPY, beside the same number of jobs in one statement and in
// statements of a hundred; with keys it is statements too.
func BenchmarkEnqueueMany(b *testing.B) {
	const batch = 10_000
	plain, keyed := make([]NewJob, batch), make([]NewJob, batch)
	for i := range plain {
		plain[i] = NewJob{Queue: "emails", Payload: []byte(`{"to": "user@example.com", "template": "welcome"}`)}
	}
	ways := []struct {
		name    string
		enqueue func(*Queue) error
	}{
		{"copied", func(q *Queue) error { _, err := q.EnqueueMany(b.Context(), plain); return err }},
		{"one statement", func(q *Queue) error { _, err := q.Enqueue(b.Context(), plain...); return err }},
		{"hundreds", func(q *Queue) error {
			for some := range slices.Chunk(plain, 100) {
				if _, err := q.Enqueue(b.Context(), some...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"with keys", func(q *Queue) error {
			call := owner()
			for i := range keyed {
				keyed[i] = plain[i]
				keyed[i].IdempotencyKey = fmt.Sprint(call, i)
			}
			_, err := q.EnqueueMany(b.Context(), keyed)
			return err
		}},
	}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			q := open(b)
			perSecond(b, batch, func() { ok(b, way.enqueue(q)) })
		})
	}
}

// Many callers enqueue one job each, again and again. Every NOTIFY makes commits of the
// whole cluster wait for each other: one for each commit, by the trigger, against one
// every few milliseconds, and against none at all. Somebody listens.
func BenchmarkWakeUps(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		for _, way := range []string{"trigger", "coalesced", "none"} {
			b.Run(fmt.Sprintf("%d %s", callers, way), func(b *testing.B) {
				q := openWith(b, int32(callers)+2)
				ears := listen(b, q, q.Schema().ReadyChannel())
				if way == "none" {
					exec(b, q, "alter table leasetop.jobs disable trigger jobs_notify_ready")
				}
				job := []NewJob{{Queue: "emails", Payload: []byte(`{"to": "user@example.com", "template": "welcome"}`)}}
				job, err := checked(job)
				ok(b, err)
				none := func(pgx.CollectableRow) error { return nil }
				ctx, cancel := context.WithCancel(b.Context())
				heard := make(chan int)
				go func() {
					n := 0
					for ; ; n++ {
						if _, err := ears.conn.WaitForNotification(ctx); err != nil {
							heard <- n
							return
						}
					}
				}()
				b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						var err error
						if way == "coalesced" {
							_, err = q.Enqueue(b.Context(), job...)
						} else {
							err = q.write(b.Context(), "enqueue", newColumns(job, all(job)).args(), none)
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
				b.ReportMetric(0, "ns/op")
				q.flushWakes()
				cancel()
				b.ReportMetric(float64(<-heard)/float64(b.N), "notifications/job")
			})
		}
	}
}

// What the look for a pause costs a claim: the statement as it is, beside the same
// without that look, turn by turn.
func BenchmarkClaimWithPauses(b *testing.B) {
	for _, pauses := range []int{0, 1000} {
		b.Run(fmt.Sprint(pauses), func(b *testing.B) {
			q := open(b)
			exec(b, q, "insert into leasetop.queues select 'q' || n, now(), 'ann', '' from generate_series(1, $1) n", pauses)
			exec(b, q, "analyze leasetop.queues")
			conn := must[*pgxpool.Conn](b)(q.Pool().Acquire(b.Context()))
			defer conn.Release()
			statement := q.Schema().Query("claim")
			without := regexp.MustCompile(`\s+AND NOT EXISTS [^\n]*`).ReplaceAllString(statement, "")
			if without == statement {
				b.Fatal("there is no look to leave out")
			}
			ready := 0
			took := map[string]time.Duration{}
			for b.Loop() {
				if ready < 2 {
					b.StopTimer()
					exec(b, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, 20000)")
					ready += 20000
					b.StartTimer()
				}
				for name, sql := range map[string]string{"with": statement, "without": without} {
					began := time.Now()
					tag, err := conn.Exec(b.Context(), sql, "emails", owner(), 60.0, 1, start.runAt, start.id, none)
					if err != nil || tag.RowsAffected() != 1 {
						b.Fatal(tag, err)
					}
					took[name] += time.Since(began)
					ready--
				}
			}
			b.ReportMetric(float64(took["with"].Microseconds())/float64(b.N), "µs/claim")
			b.ReportMetric(float64(took["without"].Microseconds())/float64(b.N), "µs/claim-without")
			b.ReportMetric(0, "ns/op")
		})
	}
}
