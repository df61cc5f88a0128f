package ui

import (
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// reports is ready, and of the workers here only one that crashed took it.
func TestQueueWithoutAWorkerIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		served bool
		change func(*world)
	}{
		"as it is":                            {false, func(*world) {}},
		"a live worker of ours":               {true, func(w *world) { w.crew[3].Queues = []string{"reports"} }},
		"a worker that drains takes no more":  {false, func(w *world) { w.crew[2].Queues = []string{"reports"} }},
		"a lease of somebody else":            {true, func(w *world) { w.claimedBy("node-worker-17", "reports", 0) }},
		"a lease of our crashed worker":       {false, func(w *world) { w.claimedBy(owner("w5", 8), "reports", 0) }},
		"a lease that is not among the first": {true, func(w *world) { w.state.Depths.Queues[2].Processing, w.state.Leases.Total = 1, 8 }},
		"others that are not":                 {false, func(w *world) { w.state.Leases.Total = 8 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.crew = slices.Clone(w.crew)
			c.change(w)
			s := newStage(t, w, 120, 36)
			if c.served {
				s.seesNot("no live worker")
			} else {
				s.sees("! reports: 50,317 ready, no live worker takes it")
			}
		})
	}
}

func TestManyQueuesWithoutAWorkerAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Depths.Queues, w.state.Leases = manyQueues(10_000), watch.Leases{Source: watch.FromWAL, Read: noon}
	s := newStage(t, w, 120, 36)
	s.sees("! tenant-00000: 1 ready, no live worker takes it", "! and 999 more queues without a worker")
	w.crew = []workers.Snapshot{{Name: "w1", State: workers.Idle, Queues: []string{"tenant-00000", "tenant-00010"}}}
	s.pass(time.Second)
	s.pull()
	s.sees("! tenant-00020: 7 ready, no live worker takes it", "! and 997 more queues")
}
