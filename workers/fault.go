package workers

import (
	"fmt"
	"time"
)

// LateBy is how long after its leases ran out a zombie goes on: long enough for the
// reaper and for another worker to have claimed its jobs.
const LateBy = time.Second

// Kill crashes a worker: no claim, heartbeat or outcome of its leaves this
// process once Kill has returned, its handlers' contexts are cancelled with
// [ErrCrashed] so that their goroutines end, and what they return is dropped.
// Nothing is cleaned up: to the database it is a process that died. A claim
// already on its way may still land; it is abandoned too. The error wraps
// [ErrNoWorker], or says that the worker stopped or crashed before.
func (p *Pool) Kill(name string) error {
	p.mu.Lock()
	w, err := p.find(name)
	if err == nil && (w.crashed || w.over) {
		err = fmt.Errorf("kill %s: it has %s", name, w.state)
	}
	if err != nil {
		p.mu.Unlock()
		return err
	}
	w.crashed, w.thawed = true, nil
	w.drop()
	for _, r := range w.runs {
		p.release(r)
		r.cancel(ErrCrashed)
	}
	w.refresh()
	p.mu.Unlock()

	w.hush()
	w.life.end(ErrCrashed)
	p.mu.Lock()
	text := "it held no job"
	if running := len(w.runs); running > 0 {
		var last time.Duration
		for _, r := range w.runs {
			last = max(last, r.sure-p.clock())
		}
		text = fmt.Sprintf("%s abandoned without clean-up, lease runs out in %s", counted(running, "job"), runsOutIn(last))
	}
	p.emit(Event{Worker: w.name, What: Killed, Text: text})
	p.mu.Unlock()
	p.lookAtClock()
	p.passOnAll(w)
	return nil
}

// Freeze makes a zombie of a worker: its handlers go on, but heartbeats, claims
// and outcomes stop, and nothing checks trust. A second after the leases it holds
// have run out it thaws by itself, tries to finish what its handlers did
// meanwhile, is fenced, and goes back to work. Without a job it thaws after one lease.
// The error wraps [ErrNoWorker], or says why the worker cannot be frozen.
func (p *Pool) Freeze(name string) error {
	p.mu.Lock()
	w, err := p.find(name)
	if err == nil && w.state != Idle && w.state != Busy {
		err = fmt.Errorf("freeze %s: it is %s", name, w.state)
	}
	if err == nil && p.base == nil {
		err = fmt.Errorf("freeze %s: the pool was not started", name)
	}
	if err != nil {
		p.mu.Unlock()
		return err
	}
	w.thawed, w.thawAt = make(chan struct{}), 0
	for _, r := range w.runs {
		p.makeStale(r)
	}
	w.refresh()
	p.mu.Unlock()

	w.hush()
	p.mu.Lock()
	if w.state == Frozen { // and not killed meanwhile
		w.thawAt = p.clock() + p.shortest
		text := "it holds no job"
		if n := len(w.runs); n > 0 {
			w.thawAt = 0
			for _, r := range w.runs { // also those whose claim landed meanwhile
				w.thawAt = max(w.thawAt, r.sure+LateBy)
			}
			text = fmt.Sprintf("no heartbeats for %s, thaws in %v", counted(n, "running job"), (w.thawAt - p.clock()).Round(100*time.Millisecond))
		}
		p.emit(Event{Worker: w.name, What: Froze, Text: text})
	}
	p.mu.Unlock()
	p.lookAtClock()
	p.passOnAll(w)
	return nil
}

// makeStale takes a run off heartbeats and trust, for good: its end is a late
// one. The lock is held.
func (p *Pool) makeStale(r *run) {
	r.stale = true
	p.release(r)
	select {
	case r.renewed <- struct{}{}: // a zombie does not wait to be sure
	default:
	}
}

// thaw ends a freeze. The lock is held.
func (p *Pool) thaw(w *worker) {
	close(w.thawed)
	w.thawed = nil
	p.emit(Event{Worker: w.name, What: Thawed, Text: "back at work; what it held is late"})
	w.refresh()
	w.poke()
}

// isFrozen reports whether the worker is frozen.
func (p *Pool) isFrozen(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.thawed != nil
}

// runsOutIn is how long a lease has yet to run, in words that can be read however long
// that is: "1.8s", "12 days", "100 years".
func runsOutIn(d time.Duration) string {
	const day = 24 * time.Hour
	const year = 365 * day
	switch {
	case d >= 2*year:
		return counted(int((d+year/2)/year), "year")
	case d >= 2*day:
		return counted(int((d+day/2)/day), "day")
	}
	return d.Round(100 * time.Millisecond).String()
}
