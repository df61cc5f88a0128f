package watch

import (
	"cmp"
	"slices"

	"github.com/leasetop/leasetop/queue"
)

// knownMost bounds how many queues stillKnown keeps: names cannot pile up.
const knownMost = 500

// stillKnown adds to a reading the queues of the one before that it lacks, while its
// completed are estimated. A sample need not come across the few completed jobs of a
// small queue in a large table: that such a queue has none left is not known.
func stillKnown(before []QueueDepth, reading queue.Depths) []queue.QueueDepth {
	now := reading.Queues
	if reading.CompletedExact {
		return now
	}
	have := make(map[string]bool, len(now))
	for _, d := range now {
		have[d.Queue] = true
	}
	all := slices.Clip(now)
	for _, d := range before {
		if !have[d.Queue] && len(all) < len(now)+knownMost {
			all = append(all, queue.QueueDepth{Queue: d.Queue})
		}
	}
	if len(all) > len(now) {
		slices.SortFunc(all, func(a, b queue.QueueDepth) int { return cmp.Compare(a.Queue, b.Queue) })
	}
	return all
}
