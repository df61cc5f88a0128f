package ui

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// TestWhereTheFiguresComeFromIsDrawn compares the overview with its drawings, for each way
// in which the feed may get its figures or lack them.
func TestWhereTheFiguresComeFromIsDrawn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*watch.State){
		"polled": func(s *watch.State) { polled(s, noStream) },
		"counted less far": func(s *watch.State) {
			polled(s, noStream)
			s.Depths.Cap, s.Depths.Note = 10_000, "statement_timeout is 500ms, and counting further takes longer"
			q := &s.Depths.Queues[0]
			q.Failed, q.Dead, q.AtLeast = 0, 10_000, queue.AtLeast{Failed: true, Dead: true}
		},
		"attaching": func(s *watch.State) {
			polled(s, "")
			s.WAL = watch.Link{Since: noon.Add(-4 * time.Second), Attaching: true, Reason: "attaching: 430,080 jobs read"}
		},
		"stream lost": func(s *watch.State) { // and no poll has come yet
			silent(&s.WAL, 7*time.Second, "terminating connection due to administrator command (57P01)")
			s.Depths.Read, s.Leases.Read = s.WAL.Heard, s.WAL.Heard
		},
		"stream behind": func(s *watch.State) {
			s.WAL.Lag = 8 * time.Second
			s.Depths.Read, s.Leases.Read = noon.Add(-8*time.Second), noon.Add(-8*time.Second)
		},
		"listen lost": func(s *watch.State) {
			s.Dead.Read = noon.Add(-time.Hour)
			silent(&s.Notify, 6*time.Second, "no answer: the connection is replaced")
		},
		"everything lost": func(s *watch.State) {
			const refused = "dial tcp 10.0.0.4:5432: connection refused"
			polled(s, refused)
			for _, l := range []*watch.Link{&s.WAL, &s.Notify, &s.Polling} {
				silent(l, 42*time.Second, refused)
			}
			lost := s.Polling.Heard
			s.Depths.Read, s.Leases.Read, s.Pauses.Read, s.Dead.Read = lost, lost, lost, lost
		},
		"10,000 queues": func(s *watch.State) {
			s.Depths.Queues, s.Leases = manyQueues(10_000), watch.Leases{Source: watch.FromWAL, Read: noon}
			addTraffic(s)
		},
		"millions": func(s *watch.State) {
			q := s.Depths.Queues
			q[0].Ready, q[0].Scheduled, q[0].Completed, q[0].CompletedExact, q[0].Failed, q[0].Dead = 1_204_331, 60_312, 184_223_910, false, 1_007, 100_031
			q[1].Ready, q[1].Completed, q[1].CompletedExact = 31, 9_310_004, false
			q[2].Ready, q[2].Dead = 3_050_317, 7
			q[0].Rate = watch.Rate{In: 8_211, Out: 7_904, Failed: 2_950, Dead: 31, Reclaimed: 0.4}
			addTraffic(s)
		},
	} {
		for _, size := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				prepare(w.state)
				term.Golden(t, newStage(t, w, size[0], size[1]).screen())
			})
		}
	}
}

// manyQueues are queues of which every tenth has something to do.
func manyQueues(n int) []watch.QueueDepth {
	quiet := make([]float64, 60)
	queues := make([]watch.QueueDepth, n)
	for i := range queues {
		q := watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: fmt.Sprintf("tenant-%05d", i), Completed: int64(i % 97), CompletedExact: true}, Rates: watch.FromWAL, Spark: quiet, SparkIn: quiet}
		if i%10 == 0 {
			q.Ready, q.Processing, q.OldestReady = int64(1+i%7), 1, time.Duration(i%50)*time.Second
			q.Rate = watch.Rate{In: 0.2, Out: 0.2}
		}
		queues[i] = q
	}
	return queues
}
