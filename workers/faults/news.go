package faults

import (
	"sync"

	"github.com/leasetop/leasetop/workers"
)

// news are the last events of several sources, counted anew.
type news struct {
	mu      sync.Mutex
	events  []workers.Event // oldest first, at most workers.EventsKept
	last    uint64
	reaped  workers.Recovery // as told by all events there were
	changed chan struct{}    // closed, and replaced, at every change; nil while nobody asked
}

func (n *news) add(e workers.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	e.Seq = n.last
	n.reaped.Note(e)
	if len(n.events) == workers.EventsKept {
		n.events = append(n.events[:0], n.events[1:]...)
	}
	n.events = append(n.events, e)
	n.announce()
}

// after are the events after a number, and that of the last there is.
func (n *news) after(seq uint64) ([]workers.Event, uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh := 0
	if seq < n.last {
		fresh = int(min(n.last-seq, uint64(len(n.events))))
	}
	return append([]workers.Event(nil), n.events[len(n.events)-fresh:]...), n.last
}

func (n *news) recovery() workers.Recovery {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reaped
}

func (n *news) change() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// touch tells that something changed without an event.
func (n *news) touch() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announce()
}

func (n *news) announce() {
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}
