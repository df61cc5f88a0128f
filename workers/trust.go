package workers

import (
	"context"
	"time"
)

// farOff is when the clock looks again while nothing is due.
const farOff = time.Hour

// begun is where monotonic counts from.
var begun = time.Now()

// monotonic is Go's monotonic clock. It stands still while the machine sleeps.
func monotonic() time.Duration { return time.Since(begun) }

// lookAtClock has the clock see again what comes next.
func (p *Pool) lookAtClock() {
	select {
	case p.tick <- struct{}{}:
	default:
	}
}

// keepTime does what is due by the process's own clock: it ends trust, thaws
// zombies, finds stuck handlers. Timers stand still while the machine sleeps, so
// while handlers run it looks at least twice per margin.
func (p *Pool) keepTime(ctx context.Context) {
	for {
		timer := time.NewTimer(p.atClock())
		select {
		case <-timer.C:
		case <-p.tick:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// atClock does what is due now and returns when to look again.
func (p *Pool) atClock() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	next := now + farOff
	for _, w := range p.workers {
		if w.thawed != nil && w.thawAt > 0 {
			if w.thawAt <= now {
				p.thaw(w)
			} else {
				next = min(next, w.thawAt)
			}
		}
		for i := len(w.runs) - 1; i >= 0; i-- { // backwards: runs may be taken out
			next = min(next, p.runAtClock(w.runs[i], now))
		}
	}
	return max(next-now, 0)
}

// runAtClock does what is due for one run and returns when something will be.
// The lock is held.
func (p *Pool) runAtClock(r *run, now time.Duration) (next time.Duration) {
	next = now + farOff
	w := r.worker
	if w.crashed {
		if gone := r.sure + LateBy; gone > now {
			return gone
		}
		w.forget(r)
		w.refresh()
		return next
	}
	if r.phase == handling && !r.lost && !r.stale {
		if r.trust <= now {
			cause, why := ErrTrustEnded, "no heartbeat got through in time"
			if r.rowRefused != nil {
				cause, why = r.trustRefused(), said(r.rowRefused)
			}
			r.lose(cause)
			p.emit(Event{
				Worker: w.name, What: TrustEnded, JobID: r.job.ID, Queue: r.job.Queue,
				Text: why + ": the handler is stopped before the lease ends",
			})
		} else {
			next = min(next, r.trust, now+p.o.margin(p.shortest)/2)
		}
	}
	if r.phase == handling && r.asked > 0 && !r.stuck {
		if due := r.asked + p.patienceWith(w); due <= now {
			p.findStuck(r)
		} else {
			next = min(next, due)
		}
	}
	return next
}
