package workers

import (
	"context"
	"fmt"
	"time"
)

// Stuck counts the handlers, of all workers, that ignore their cancelled contexts
// for longer than the grace period. Each keeps its slot until it returns; crashed
// workers' handlers are not counted.
func (p *Pool) Stuck() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		for _, r := range w.runs {
			if r.stuck && !w.crashed {
				n++
			}
		}
	}
	return n
}

// patienceWith is how long a cancelled handler may take before it counts as stuck.
func (p *Pool) patienceWith(w *worker) time.Duration {
	if w.draining {
		return p.o.rest()
	}
	return p.o.Grace
}

// findStuck notes that a handler ignores its cancelled context. The lock is held.
func (p *Pool) findStuck(r *run) {
	r.stuck = true
	p.emit(Event{
		Worker: r.worker.name, What: StuckFound, JobID: r.job.ID, Queue: r.job.Queue,
		Text: fmt.Sprintf("the handler of job %d ignores its cancelled context: its slot is taken until it returns", r.job.ID),
	})
}

// watch counts the handler of ctx as asked to stop from the end of ctx on, until
// the function that it returns is called.
func watch(ctx context.Context) (end func()) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return func() {}
	}
	p := r.worker.pool
	asked, over := false, false // guarded by the pool's lock
	unwatch := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !over && r.asked == 0 {
			asked, r.asked = true, p.clock()
			p.lookAtClock()
		}
	})
	return func() {
		unwatch()
		p.mu.Lock()
		defer p.mu.Unlock()
		over = true
		if asked && r.ctx.Err() == nil {
			r.asked, r.stuck = 0, false
			p.journal.touch()
		}
	}
}
