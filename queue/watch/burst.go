package watch

import (
	"slices"
	"strconv"

	"github.com/leasetop/leasetop/queue"
)

// burstSize is how many events of one kind in one queue are told one by one.
const burstSize = 20

// burst gathers the events of one transaction, or of one difference between two
// polls. Whatever its size, it holds at most burstSize events of a kind.
type burst struct {
	first  Event // most transactions have one event only
	count  int   // of all events
	kinds  map[burstKind]*alike
	next   int // numbers the events kept, to bring them back into their order
	owners int // whose renewals are told apart, each of one queue
}

type burstKind struct {
	what  What
	queue string
	owner string // of renewals: one heartbeat may be many workers'
}

// restOfOwners is the owner of the renewals of all whom a burst does not tell apart.
const restOfOwners = "\x00"

type alike struct {
	count  int
	events []Event
	order  []int
}

// most is how many events of a kind are told one by one: renewals come together.
func (k burstKind) most() int {
	if k.what == Renewed {
		return 1
	}
	return burstSize
}

func (b *burst) add(e Event) {
	b.count++
	switch b.count {
	case 1:
		b.first = e
		return
	case 2:
		b.kinds = map[burstKind]*alike{}
		b.sort(b.first)
	}
	b.sort(e)
}

func (b *burst) sort(e Event) {
	kind := burstKind{what: e.What, queue: e.Queue}
	if e.What == Renewed {
		kind.owner = workerOf(e.Owner)
		if b.kinds[kind] == nil {
			if b.owners++; b.owners > burstSize {
				kind.owner = restOfOwners
			}
		}
	}
	a := b.kinds[kind]
	if a == nil {
		a = &alike{}
		b.kinds[kind] = a
	}
	a.count++
	if a.count <= kind.most() {
		a.events = append(a.events, e)
		a.order = append(a.order, b.next)
		b.next++
	}
}

// workerOf is the owner without the number of its claim.
func workerOf(owner string) string {
	if token, ok := queue.ParseToken(owner); ok {
		return token.Process + "/" + token.Worker
	}
	return owner
}

// told appends the events in their order; more than burstSize alike are one.
func (b *burst) told(to []Event) []Event {
	switch b.count {
	case 0:
		return to
	case 1:
		return append(to, b.first)
	}
	type placed struct {
		Event
		order int
	}
	var all []placed
	for kind, a := range b.kinds {
		if a.count > kind.most() {
			first := a.events[0]
			together := Event{
				At: first.At, Source: first.Source, What: kind.what, Queue: kind.queue,
				Count: a.count, Note: thousands(a.count) + " jobs",
			}
			switch {
			case kind.owner == restOfOwners:
				together.Note += " of other workers"
			case kind.what == Renewed:
				together.Owner = first.Owner
			}
			all = append(all, placed{together, a.order[0]})
			continue
		}
		for i, e := range a.events {
			all = append(all, placed{e, a.order[i]})
		}
	}
	slices.SortFunc(all, func(x, y placed) int { return x.order - y.order })
	for _, e := range all {
		to = append(to, e.Event)
	}
	return to
}

// thousands prints 1000 as 1,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
