package workers

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// EventsKept is how many events a pool remembers.
const EventsKept = 500

// journal keeps the last events and tells that something changed.
type journal struct {
	mu      sync.Mutex
	events  []Event // oldest first, at most EventsKept
	last    uint64
	changed chan struct{} // closed, and replaced, at every change; nil while nobody asked
}

func (j *journal) add(e Event) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq = j.last
	if len(j.events) == EventsKept {
		j.events = append(j.events[:0], j.events[1:]...)
	}
	j.events = append(j.events, e)
	j.announce()
	return e.Seq
}

func (j *journal) after(seq uint64) ([]Event, uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh := 0
	if seq < j.last {
		fresh = int(min(j.last-seq, uint64(len(j.events))))
	}
	return append([]Event(nil), j.events[len(j.events)-fresh:]...), j.last
}

func (j *journal) change() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}

// touch tells that a snapshot changed without an event.
func (j *journal) touch() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.announce()
}

func (j *journal) announce() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// Events returns the events after a sequence number (0 for all that are kept, at
// most [EventsKept]), oldest first, and the number of the last there is.
func (p *Pool) Events(after uint64) (events []Event, last uint64) { return p.journal.after(after) }

// Changed is closed at the next event, and when a worker's state, its running jobs or
// their trust change. Take the channel first, then read [Pool.Workers] and
// [Pool.Events], then wait: nothing is missed.
func (p *Pool) Changed() <-chan struct{} { return p.journal.change() }

// emit notes and logs an event. It may be called with the pool's lock held.
func (p *Pool) emit(e Event) {
	e.At = p.wall()
	p.journal.add(e)
	level := slog.LevelInfo
	switch e.What {
	case LeaseLost, StaleFenced, TrustEnded, Panicked, ReapedBack, ReapedDead, StuckFound, DBTrouble, Mishap, RowRefused:
		level = slog.LevelWarn
	}
	attrs := make([]slog.Attr, 0, 5)
	if e.Worker != "" {
		attrs = append(attrs, slog.String("worker", e.Worker))
	}
	if e.JobID != 0 {
		attrs = append(attrs, slog.Int64("job", e.JobID), slog.String("queue", e.Queue))
	}
	if e.Owner != "" {
		attrs = append(attrs, slog.String("owner", e.Owner))
	}
	if e.Text != "" {
		attrs = append(attrs, slog.String("text", e.Text))
	}
	p.log(level, string(e.What), attrs...)
}

// tell passes events on to Options.Events, from a goroutine that holds no lock.
func (p *Pool) tell(ctx context.Context) {
	var seen uint64
	for {
		changed := p.Changed()
		var fresh []Event
		fresh, seen = p.Events(seen)
		p.pass(fresh)
		select {
		case <-changed:
		case <-ctx.Done():
			fresh, _ = p.Events(seen)
			p.pass(fresh)
			return
		}
	}
}

func (p *Pool) pass(events []Event) {
	for _, e := range events {
		p.call("Options.Events", func() { p.o.Events(e) })
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// wallClock labels what screens show; it decides nothing.
func wallClock() time.Time { return time.Now() }
