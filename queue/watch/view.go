package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const leasesShown = 200 // how many leases State lists

// inOrder returns the queues by name, and forgets those that have nothing left. Some of
// these may have completed jobs of which the estimate knows nothing: of such a bounded
// number is kept. before is the list that it made last.
func (l *ledger) inOrder(before []*tally) []*tally {
	if !l.regroup && !slices.ContainsFunc(before, func(t *tally) bool { return t.empty() && t.exact }) {
		return before
	}
	l.regroup = false
	order, unsure := before[:0], 0
	for _, t := range l.queues {
		if t.empty() {
			if unsure++; t.exact || unsure > knownMost {
				l.forget(t)
				continue
			}
		}
		order = append(order, t)
	}
	slices.SortFunc(order, func(a, b *tally) int { return cmp.Compare(a.name, b.name) })
	return order
}

// empty tells whether a queue has nothing left, and nothing to tell.
func (t *tally) empty() bool { return t.jobs == 0 && t.completed == 0 && t.news == (moves{}) }

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
