package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const leasesShown = 200 // how many leases State lists

// inOrder returns the queues by name, and forgets those that have nothing left, nor
// rates. before is the list that it made last.
func (l *ledger) inOrder(before []*tally) []*tally {
	over := func(t *tally) bool {
		return t.jobs == 0 && t.completed == 0 && t.news == (moves{}) && t.until <= l.now
	}
	if !l.regroup && !slices.ContainsFunc(before, over) {
		return before
	}
	l.regroup = false
	order := before[:0]
	for _, t := range l.queues {
		if over(t) {
			l.forget(t)
			continue
		}
		order = append(order, t)
	}
	slices.SortFunc(order, func(a, b *tally) int { return cmp.Compare(a.name, b.name) })
	return order
}

// depth is what the ledger counts of one queue at a time of the database.
func (t *tally) depth(at int64) QueueDepth {
	d := queue.QueueDepth{
		Queue: t.name, Ready: int64(len(t.ready)) + t.always, Scheduled: int64(len(t.scheduled)),
		Processing: t.processing, Completed: t.completed, CompletedExact: t.exact, Failed: t.failed, Dead: t.dead,
	}
	if len(t.ready) > 0 {
		d.OldestReady = time.Duration(min(at-t.ready[0].due, maxMicros)) * time.Microsecond
	}
	return QueueDepth{QueueDepth: d, Finished: t.finished, Rates: FromWAL}
}

const maxMicros = 1<<63/1000 - 1 // of a Duration

// firstLeases are those that expire first, of a list that is not sorted and may be long.
func firstLeases(all map[int64]*row) []Lease {
	sooner := func(a, b *row) int { return cmp.Or(a.expiresAt.Compare(b.expiresAt), cmp.Compare(a.id, b.id)) }
	var first []*row
	var cut *row // what comes after it is not among the first
	for _, r := range all {
		if cut != nil && sooner(r, cut) > 0 {
			continue
		}
		if first = append(first, r); len(first) == 4*leasesShown {
			slices.SortFunc(first, sooner)
			first = first[:leasesShown]
			cut = first[leasesShown-1]
		}
	}
	slices.SortFunc(first, sooner)
	list := make([]Lease, min(len(first), leasesShown))
	for i := range list {
		list[i] = first[i].lease()
	}
	return list
}
