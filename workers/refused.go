package workers

import (
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// How long the server is not asked again to change a row that it refused to: at first, and at most.
const (
	refusedAtFirst = time.Second
	refusedAtMost  = 5 * time.Minute
)

// asideMost bounds the jobs of one worker whose completions the server refuses, and which
// are tried again without a slot.
const asideMost = 100

// said is what the server refuses, and why, in one line.
func said(r *queue.Refusal) string {
	if r.Detail == "" {
		return r.Error()
	}
	return r.Error() + " (" + r.Detail + ")"
}

// tellRefused tells of a job that claims or reclaims pass over.
func (p *Pool) tellRefused(worker, queue string, r *queue.Refusal) {
	text := said(r)
	if r.For > 0 {
		text += fmt.Sprintf("; passed over for %v, or until it is changed", r.For)
	}
	p.emit(Event{Worker: worker, What: RowRefused, JobID: r.JobID, Queue: queue, Text: text})
}

// renewalRefused is told of a lease that the server refuses to renew. It is left out of the
// heartbeats for a while; when its trust ends meanwhile, its handler is stopped, as any
// other would be. The lock is held.
func (r *run) renewalRefused(refusal *queue.Refusal, answered time.Duration) {
	p := r.worker.pool
	if p.holders[r.job.ID] != r {
		return // it ended meanwhile
	}
	r.rowRefused = refusal
	r.passed = min(max(2*r.passed, refusedAtFirst), refusedAtMost)
	r.beatDue = answered + r.passed
	text := said(refusal)
	if r.phase == confirming { // nothing was begun that the lease is too short for
		text += ": its handler is not begun"
		r.lose(r.trustRefused())
	} else if left := r.trust - answered; left > 0 {
		text += fmt.Sprintf(": its handler is stopped in %v, unless it has ended or the lease is renewed by then", left.Round(100*time.Millisecond))
	}
	p.emit(Event{Worker: r.worker.name, What: RowRefused, JobID: r.job.ID, Queue: r.job.Queue, Text: text})
}

// allRefused is told of the leases that the server refused to renew in a heartbeat which
// renewed none. One job may be such a one. Two, and none renewed between them, are taken for
// a server that refuses every heartbeat. The lock is held.
func (h *heart) allRefused(refused []queue.RefusedLease) error {
	for _, r := range refused {
		if h.alike == nil {
			h.alike = map[int64]bool{}
		}
		h.alike[r.JobID] = true
		if len(h.alike) > 1 {
			h.refused, h.alike = true, nil
			return r.Refusal
		}
	}
	return nil
}

// renews tells whether a lease is held that the server does not refuse to renew.
func (h *heart) renews() bool {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	for _, r := range h.p.holders {
		if r.rowRefused == nil {
			return true
		}
	}
	return false
}

// trustRefused is ErrTrustEnded for a reason that can be told apart. The lock is held.
func (r *run) trustRefused() error { return fmt.Errorf("%w: %w", ErrTrustEnded, r.rowRefused) }

// outcomeRefused is told of an outcome that the server refuses, waits, and reports whether
// it is to be tried again. What was done to complete a job must not be done again for want
// of a row that can be changed: the completion is tried again for as long as the lease is
// trusted, without a slot, so that other jobs are not held up. Of other outcomes nothing is
// lost when the lease runs out.
func (r *run) outcomeRefused(o outcome, err error) (again bool) {
	w, p := r.worker, r.worker.pool
	var refusal *queue.Refusal
	if !errors.As(err, &refusal) {
		return false
	}
	wait := r.stepAside(o)
	text := said(refusal)
	if wait > 0 {
		text += fmt.Sprintf(": its %s is tried again in %v, while its lease can be kept", o.name, wait)
	} else {
		text += fmt.Sprintf(": its %s is not written, the lease will run out", o.name)
	}
	p.emit(Event{Worker: w.name, What: RowRefused, JobID: r.job.ID, Queue: r.job.Queue, Text: text})
	p.signals.refused.send(r.job.ID)
	if wait > 0 && r.waitsAside(wait) {
		return true
	}
	r.leaveBehind()
	return false
}

// stepAside frees the slot of a run whose completion the server refuses, and returns after
// which time it is to be tried again; 0: not at all.
func (r *run) stepAside(o outcome) time.Duration {
	w, p := r.worker, r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.status != queue.Completed || o.once || r.lost || r.stale || w.draining || !r.aside && w.aside == asideMost {
		return 0
	}
	if !r.aside {
		r.aside = true
		w.aside++
		w.poke()
	}
	r.asideFor = min(max(2*r.asideFor, refusedAtFirst), refusedAtMost)
	return r.asideFor
}

func (r *run) isAside() bool {
	r.worker.pool.mu.Lock()
	defer r.worker.pool.mu.Unlock()
	return r.aside
}

// waitsAside waits before the next try. It reports false when there is to be none: the
// worker drains, or the lease is not trusted any more.
func (r *run) waitsAside(wait time.Duration) bool {
	w, p := r.worker, r.worker.pool
	p.mu.Lock()
	trusted := r.trust - p.clock()
	p.mu.Unlock()
	// Heartbeats go on meanwhile, or are refused too.
	for {
		timer := time.NewTimer(min(wait, max(trusted, 0)+time.Millisecond))
		began := p.clock()
		select {
		case <-timer.C:
		case <-w.leaving:
			timer.Stop()
			return false
		case <-w.gone:
			timer.Stop()
			return true // which finds that out
		}
		wait -= p.clock() - began
		p.mu.Lock()
		trusted = r.trust - p.clock()
		p.mu.Unlock()
		switch {
		case trusted <= 0 && r.untrusted():
			p.emit(Event{
				Worker: w.name, What: TrustEnded, JobID: r.job.ID, Queue: r.job.Queue,
				Text: "the completion was refused until the lease could not be kept any more: the job may be done again",
			})
			return false
		case wait <= 0:
			return true
		}
	}
}
