package watch

import (
	"slices"
	"strconv"
)

// burstSize is how many events of one kind in one queue are told one by one.
const burstSize = 20

// burst gathers the events of one transaction, or of one difference between two
// polls. Whatever its size, it holds at most burstSize events of a kind.
type burst struct {
	kinds map[burstKind]*alike
	next  int // numbers the events kept, to bring them back into their order
}

type burstKind struct {
	what  What
	queue string
}

type alike struct {
	count  int
	events []Event
	order  []int
}

func (b *burst) add(e Event) {
	if b.kinds == nil {
		b.kinds = map[burstKind]*alike{}
	}
	kind := burstKind{e.What, e.Queue}
	a := b.kinds[kind]
	if a == nil {
		a = &alike{}
		b.kinds[kind] = a
	}
	a.count++
	if a.count <= burstSize {
		a.events = append(a.events, e)
		a.order = append(a.order, b.next)
		b.next++
	}
}

// told returns the events in their order; more than burstSize alike are one.
func (b *burst) told() []Event {
	type placed struct {
		Event
		order int
	}
	var all []placed
	for kind, a := range b.kinds {
		if a.count > burstSize {
			first := a.events[0]
			all = append(all, placed{Event{
				At: first.At, Source: first.Source, What: kind.what, Queue: kind.queue,
				Count: a.count, Note: thousands(a.count) + " jobs",
			}, a.order[0]})
			continue
		}
		for i, e := range a.events {
			all = append(all, placed{e, a.order[i]})
		}
	}
	slices.SortFunc(all, func(x, y placed) int { return x.order - y.order })
	events := make([]Event, len(all))
	for i, e := range all {
		events[i] = e.Event
	}
	return events
}

// thousands prints 1000 as 1,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
