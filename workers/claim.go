package workers

import (
	"context"
	"errors"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// claimPatience bounds one claim statement, so that a connection which died
// silently does not hold up a worker for long.
const claimPatience = 10 * time.Second

// loop claims whenever a slot is free, until the worker drains or is gone.
func (w *worker) loop(ctx context.Context) {
	idle := pace{min: w.pool.o.PollMin, max: w.pool.o.PollMax}
	overdue := pace{min: 5 * time.Millisecond, max: time.Second}
	for ctx.Err() == nil {
		w.pool.mu.Lock()
		free, draining := w.free(), w.draining
		w.pool.mu.Unlock()
		if draining {
			w.drain(ctx)
			return
		}
		var timer *time.Timer
		var poll <-chan time.Time
		up, changed := w.pool.heart.standing()
		switch {
		case !up: // what cannot be renewed is not claimed
			idle.reset()
		case free == 0:
			w.passOn()
		default:
			got, err := w.round(ctx)
			if got > 0 {
				idle.reset()
				overdue.reset()
				if err == nil {
					continue // until nothing is left
				}
			}
			wait := idle.next()
			if err == nil && got == 0 {
				wait = w.untilDue(ctx, wait, &overdue)
				w.pool.signals.idle.send(w.name)
			}
			timer = time.NewTimer(wait)
			poll = timer.C
		}
		select {
		case <-ctx.Done():
		case <-w.signal:
		case <-changed:
		case <-poll:
		}
		if timer != nil {
			timer.Stop()
		}
	}
}

// round asks each queue in turn, the preferred first, for as many jobs as slots
// are free.
func (w *worker) round(ctx context.Context) (got int, err error) {
	p := w.pool
	p.mu.Lock()
	clear(w.woken)
	p.mu.Unlock()
	for _, name := range w.queues {
		p.mu.Lock()
		free, claiming := w.free(), w.claiming()
		p.mu.Unlock()
		if free <= 0 || !claiming || ctx.Err() != nil {
			break
		}
		n, claimErr := w.claimFrom(ctx, name, free)
		got += n
		if errors.Is(claimErr, queue.ErrRowRefused) { // by this queue's rows, which are none of the others'
			err = claimErr
			continue
		}
		if claimErr != nil {
			return got, claimErr
		}
		if n == free {
			// There may be more than one worker can take: each whose hands are full wakes the next.
			p.wakeOne(name, w)
			break // a slot that is free again by now is for the preferred queue first
		}
	}
	return got, err
}

func (w *worker) claimFrom(ctx context.Context, name string, limit int) (int, error) {
	p := w.pool
	if !w.begin() {
		return 0, nil
	}
	defer w.end()
	lease := p.o.stretched(p.claimLease(name), p.heart.roundTrip())
	request := queue.ClaimRequest{Queue: name, Owner: w.nextToken(), Lease: lease, Limit: limit, Refused: func(r *queue.Refusal) {
		p.tellRefused(w.name, name, r)
	}}
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	sent := p.clock()
	jobs, err := p.q.Claim(ctx, request)
	answered := p.clock()
	if err != nil {
		w.claimFailed(err)
		return 0, err
	}
	p.latency.add(answered, answered-sent)
	w.claimWorks()
	w.accept(jobs, lease, sent, answered)
	return len(jobs), nil
}

func (w *worker) claimFailed(err error) {
	p := w.pool
	p.mu.Lock()
	w.lastError = err.Error()
	over := w.dropped
	p.journal.touch()
	p.mu.Unlock()
	if !over {
		p.trouble("claims", err)
		p.heart.doubt()
	}
}

func (w *worker) claimWorks() {
	p := w.pool
	p.mu.Lock()
	if w.lastError != "" {
		w.lastError = ""
		p.journal.touch()
	}
	p.mu.Unlock()
	p.works("claims")
}

// accept puts claimed jobs into slots.
func (w *worker) accept(jobs []queue.Job, lease, sent, answered time.Duration) {
	if len(jobs) == 0 {
		return
	}
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	w.claimed += uint64(len(jobs))
	for i := range jobs {
		r := newRun(w, &jobs[i])
		r.grant(lease, sent, answered)
		r.beatDue = sent + p.period()
		w.runs = append(w.runs, r)
		switch {
		case w.crashed: // killed while the claim was on its way: nobody will run these
			r.phase = abandoned
			continue
		case w.thawed != nil:
			r.stale = true
		default:
			p.hold(r)
		}
		if w.draining {
			r.stop(ErrDrained)
		}
		go r.serve()
	}
	w.refresh()
	p.heart.look()
	p.lookAtClock()
}

// untilDue shortens a wait to the moment when the next scheduled job is due, so
// that it starts on time without fast polling.
func (w *worker) untilDue(ctx context.Context, wait time.Duration, overdue *pace) time.Duration {
	if !w.begin() {
		return wait
	}
	defer w.end()
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	in, ok, err := w.pool.q.NextDue(ctx, w.queues)
	switch {
	case err != nil || !ok:
		return wait
	case in > 0:
		overdue.reset()
		return min(wait, in+time.Millisecond)
	}
	// It fell due just now, stands before where claims look, or is locked by somebody.
	w.pool.q.Forget(w.queues...)
	return min(wait, overdue.next())
}
