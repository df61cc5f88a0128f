package ui

import (
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// unserved are the queues with ready jobs that nobody is seen to take.
type unserved struct {
	count int
	first []watch.QueueDepth // those that there is room to name
}

// unservedNamed is how many of them are named at most.
const unservedNamed = 2

// findUnserved finds the queues that no live worker of this process takes, and of
// which nobody else holds a lease. A process without workers cannot tell.
func (p *picture) findUnserved() (out unserved) {
	if p.alone {
		return out
	}
	served := map[string]bool{}
	for _, w := range p.workers {
		if w.State == workers.Idle || w.State == workers.Busy {
			for _, name := range w.Queues {
				served[name] = true
			}
		}
	}
	listed := map[string]int64{}
	for _, l := range p.state.Leases.List {
		listed[l.Queue]++
		if p.holder(l.Owner).state == "" {
			served[l.Queue] = true
		}
	}
	partial := p.state.Leases.Total > len(p.state.Leases.List)
	for _, q := range p.state.Depths.Queues {
		if q.Ready == 0 || served[q.Queue] || partial && q.Processing > listed[q.Queue] {
			continue
		}
		if _, paused := p.state.Pauses.Of(q.Queue); paused {
			continue
		}
		if out.count++; len(out.first) < unservedNamed {
			out.first = append(out.first, q)
		}
	}
	return out
}
