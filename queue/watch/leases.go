package watch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/leasetop/leasetop/queue"
)

// agreeing returns the depths with the jobs in processing counted from the leases,
// where all of those are known: a poll reads the two one after the other, and one
// screen must not show two figures for the same thing.
func agreeing(queues []QueueDepth, leases Leases) []QueueDepth {
	if leases.Total != len(leases.List) {
		return queues
	}
	count := map[string]int64{}
	for _, l := range leases.List {
		count[l.Queue]++
	}
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i].Processing = count[queues[i].Queue]
		delete(count, queues[i].Queue)
	}
	for _, name := range slices.Sorted(maps.Keys(count)) { // not read yet
		queues = append(queues, QueueDepth{QueueDepth: queue.QueueDepth{Queue: name, Processing: count[name]}})
	}
	slices.SortFunc(queues, func(a, b QueueDepth) int { return cmp.Compare(a.Queue, b.Queue) })
	return queues
}

// ended lists the leases of before that now does not hold any more.
func ended(before map[int64]*row, now map[int64]*row) []int64 {
	var ids []int64
	for id, r := range before {
		if n := now[id]; r.status == queue.Processing && n == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
