package workers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Drain has a worker claim no more, let its handlers finish within the grace
// period, release what is left, and stop. It returns at once. The error wraps
// [ErrNoWorker], or says that the worker stopped or crashed before.
func (p *Pool) Drain(name string) error {
	p.mu.Lock()
	w, err := p.find(name)
	if err == nil && (w.crashed || w.over) {
		err = fmt.Errorf("drain %s: it has %s", name, w.state)
	}
	if err != nil || w.draining {
		p.mu.Unlock()
		return err
	}
	p.drainOne(w)
	started := p.base != nil
	if !started {
		w.life.end(ErrDrained)
		w.over = true
		w.refresh()
	}
	p.mu.Unlock()
	p.passOnAll(w)
	return nil
}

// drainOne has one worker drain. The lock is held.
func (p *Pool) drainOne(w *worker) {
	w.draining = true
	close(w.leaving)
	text := "nothing is running"
	if n := len(w.runs); n > 0 {
		text = fmt.Sprintf("%d running, at most %v", n, p.o.Grace)
	}
	p.emit(Event{Worker: w.name, What: DrainBegun, Text: text})
	w.refresh()
	w.poke()
}

// rest is the part of the grace period in which cancelled handlers return.
func (o *Options) rest() time.Duration { return min(o.Grace/5, 2*time.Second) }

// drain is the end of the worker's loop: it waits for what is running, cancels
// it when the grace period nears its end or the stop is forced, and waits on. A
// handler that ignores its context keeps its slot and its lease, so that the job
// is not run twice at once.
func (w *worker) drain(ctx context.Context) {
	p := w.pool
	soft := time.NewTimer(p.o.Grace - p.o.rest())
	defer soft.Stop()
	forced := p.forced
	for {
		p.mu.Lock()
		if len(w.runs) == 0 || w.dropped {
			w.over = true
			w.refresh()
			if !w.crashed {
				p.emit(Event{Worker: w.name, What: WorkerEnded, Text: counted(int(w.processed), "job") + " processed"})
			}
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-w.signal:
		case <-soft.C:
			w.cancelAll()
		case <-forced:
			forced = nil
			w.cancelAll()
		case <-ctx.Done():
			return
		}
	}
}

// cancelAll cancels the handlers that still run; their jobs are released.
func (w *worker) cancelAll() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	for _, r := range w.runs {
		r.stop(ErrDrained)
	}
	w.pool.lookAtClock()
}

// Outcomes of handlers that returned in time may still be on their way when the
// grace period ends; forced stops give cancelled handlers a moment too.
const (
	lastOutcomes = 2 * time.Second
	lastMoment   = time.Second
)

// drainAll drains every worker, gives up on handlers that do not return within
// the grace period, and says which.
func (p *Pool) drainAll() {
	p.mu.Lock()
	p.stopping = true
	p.forgetBehind()
	workers := append([]*worker(nil), p.workers...)
	for _, w := range workers {
		if w.thawed != nil {
			p.thaw(w)
		}
		if !w.draining && !w.crashed && !w.over {
			p.drainOne(w)
		}
	}
	p.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, w := range workers {
			<-w.life.ended()
		}
	}()
	p.waitFor(ended, workers)
	left := p.giveUp(workers)
	<-ended
	p.mu.Lock()
	p.left = left
	p.mu.Unlock()
}

// waitFor returns when all workers have ended, or nobody is to be waited for any more.
func (p *Pool) waitFor(ended <-chan struct{}, workers []*worker) {
	grace := time.NewTimer(p.o.Grace)
	defer grace.Stop()
	select {
	case <-ended:
		return
	case <-grace.C:
	case <-p.forced:
		moment := time.NewTimer(lastMoment)
		defer moment.Stop()
		select {
		case <-ended:
			return
		case <-moment.C:
		case <-grace.C:
		}
	}
	last := time.NewTimer(lastOutcomes)
	defer last.Stop()
	for {
		changed := p.Changed()
		if !p.settling(workers) {
			return
		}
		select {
		case <-changed:
		case <-last.C:
			return
		}
	}
}

// settling reports whether any outcome is being written.
func (p *Pool) settling(workers []*worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range workers {
		for _, r := range w.runs {
			if r.phase == settling && !w.dropped {
				return true
			}
		}
	}
	return false
}

// giveUp abandons what has not ended and names what is left.
func (p *Pool) giveUp(workers []*worker) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	const notWritten = "outcome not written"
	var names []string
	for _, r := range p.behind {
		if !r.worker.crashed {
			names = append(names, r.nameLeft(notWritten))
		}
	}
	for _, w := range workers {
		for _, r := range w.runs {
			if w.crashed || slices.Contains(p.behind, r) {
				continue
			}
			why := notWritten
			if r.phase == handling {
				why = "handler ignores its cancelled context"
				if !r.stuck {
					p.findStuck(r)
				}
			}
			names = append(names, r.nameLeft(why))
		}
		if len(w.runs) > 0 {
			w.drop()
		}
		w.life.end(ErrStopped)
		if !w.over && !w.crashed {
			w.over = true
			w.refresh()
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w, whose leases run out by themselves: %s", ErrLeft, strings.Join(names, "; "))
}

// nameLeft counts a job that stays in processing to the end of its lease, and names it
// for Stop's error. The lock is held.
func (r *run) nameLeft(why string) string {
	r.worker.left++
	return fmt.Sprintf("job %d (%s/%s) on %s: %s", r.job.ID, r.job.Queue, r.job.Kind, r.worker.name, why)
}

// leaveBehind notes that no outcome of the job will be written: should the pool stop
// before the lease has run out, the job is left.
func (r *run) leaveBehind() {
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping {
		p.forgetBehind()
	}
	p.behind = append(p.behind, r)
}

// forgetBehind forgets those of which a reaper can take care by now. The lock is held.
func (p *Pool) forgetBehind() {
	now := p.clock()
	p.behind = slices.DeleteFunc(p.behind, func(r *run) bool { return r.sure <= now })
}
