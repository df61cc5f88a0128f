package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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
		renewals = append(renewals, Renewal{job.Lease(), time.Minute})
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
	args := []any{[]int64{lease.ID}, []string{lease.Token}, []float64{60}}
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
