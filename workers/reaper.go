package workers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const (
	// reapBatch bounds how many rows one statement takes back.
	reapBatch = 500
	// reapPatience bounds each statement of the reaper.
	reapPatience = 30 * time.Second
	// expirySpread is by how much reapers of many processes come apart at one expiry.
	expirySpread = 10 * time.Millisecond
)

// reap takes back leases of Options.Reaps that ran out, whoever held them. It sleeps until the
// earliest expiry it knows, and looks at least every third of the shortest
// lease, so it has seen any lease of these workers' twice before that runs out.
func (p *Pool) reap(ctx context.Context) {
	again := pace{min: 50 * time.Millisecond, max: p.period()}
	for {
		if up, _ := p.heart.standing(); !up {
			p.vigil.end()
		}
		if !p.heart.await(ctx) {
			return
		}
		if !p.reaperSleeps(ctx, p.reaperLooks(ctx, &again)) {
			return
		}
	}
}

// reaperLooks is one look of the reaper, well or not, and returns how long to wait until the next.
func (p *Pool) reaperLooks(ctx context.Context, again *pace) time.Duration {
	wait, err := p.reapDue(ctx, again)
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		p.vigil.end()
		p.trouble("reclaims", err)
		wait = again.next()
		p.heart.doubt()
	} else {
		p.works("reclaims")
	}
	p.signals.looked.send(err)
	return wait
}

// reaperSleeps waits until the reaper's next look, unless ctx ends first.
func (p *Pool) reaperSleeps(ctx context.Context, d time.Duration) bool {
	due := p.clock() + d
	if !sleep(ctx, d) {
		return false
	}
	p.vigil.waited(p.clock() - due)
	return true
}

// reapDue takes back all that is due, or will be before it is time for the next
// look, and returns how long to wait then.
func (p *Pool) reapDue(ctx context.Context, again *pace) (time.Duration, error) {
	regular := jitter(p.period(), 5)
	in, ok, err := p.nextExpiry(ctx, p.q.NextExpiry)
	if err != nil {
		return 0, err
	}
	if !ok || in > regular {
		again.reset()
		return regular, nil
	}
	if in > 0 && !p.reaperSleeps(ctx, in+rand.N(expirySpread)) {
		return 0, ctx.Err()
	}
	for total := 0; ; {
		taken, err := p.reclaim(ctx)
		if err != nil {
			return 0, err
		}
		total += taken
		switch {
		case taken == reapBatch:
			continue
		case total == 0: // renewed meanwhile, another reaper's, or locked by somebody: do not spin on it
			return p.untilNext(ctx, again.next())
		}
		again.reset()
		return 0, nil
	}
}

// untilNext is how long to wait for an expired lease that could not be taken: no longer
// than until another one runs out, which must not be late for it.
func (p *Pool) untilNext(ctx context.Context, wait time.Duration) (time.Duration, error) {
	in, ok, err := p.nextExpiry(ctx, p.q.ExpiryToCome)
	if err == nil && ok {
		wait = min(wait, max(in, 0)+rand.N(expirySpread))
	}
	return wait, err
}

// nextExpiry asks when a lease runs out, and answers how long to wait for a statement to
// be at the server by then: the answer was on its way for half of a round trip, and the
// statement will be for the other half.
func (p *Pool) nextExpiry(ctx context.Context, ask func(context.Context, ...string) (time.Duration, bool, error)) (in time.Duration, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reapPatience)
	defer cancel()
	sent := p.clock()
	p.vigil.keep(sent)
	in, ok, err = ask(ctx, p.o.Reaps...)
	trip := p.clock() - sent
	p.vigil.waited(trip)
	return in - trip, ok, err
}

// reclaim takes back one batch.
func (p *Pool) reclaim(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, reapPatience)
	defer cancel()
	sent := p.clock()
	p.vigil.keep(sent)
	taken, err := p.q.Reclaim(ctx, reapBatch, p.o.Reaps...)
	refusals := queue.Refusals(err)
	if err != nil && len(refusals) == 0 {
		return 0, err
	}
	answered := p.clock()
	p.vigil.waited(answered - sent)
	p.tookBack(taken, sent, answered)
	for _, r := range refusals {
		p.tellRefused("", "", r)
	}
	if len(taken) < reapBatch && len(refusals) == 0 {
		p.vigil.sweep(sent)
	}
	return len(taken), nil
}

// tookBack tells of jobs that a statement reclaimed between two moments, and acts on what
// they mean for this process.
func (p *Pool) tookBack(taken []queue.Reclaimed, sent, answered time.Duration) {
	if len(taken) == 0 {
		return
	}
	ready := map[string]int{}
	p.mu.Lock()
	holders := p.allRuns()
	for _, t := range taken {
		e := Event{
			What: ReapedBack, JobID: t.ID, Queue: t.Queue, Owner: t.Owner, Late: t.Late, Watched: !t.Refused && p.vigil.saw(sent-t.Late, answered-t.Late),
			Text: fmt.Sprintf("job %d: lease lost by %s, back to pending after attempt %d", t.ID, t.Owner, t.Attempts),
		}
		switch {
		case t.Status != queue.Dead:
			ready[t.Queue]++
		case t.CancelledBy != "":
			e.What = ReapedDead
			e.Text = fmt.Sprintf("job %d: lease lost by %s, and cancelled by %s: dead", t.ID, t.Owner, t.CancelledBy)
		default:
			e.What = ReapedDead
			e.Text = fmt.Sprintf("job %d: lease lost by %s at attempt %d, the last: dead", t.ID, t.Owner, t.Attempts)
		}
		p.emit(e)
		lease := queue.Lease{ID: t.ID, Token: t.Owner}
		p.behind = slices.DeleteFunc(p.behind, func(r *run) bool { return r.lease == lease }) // it is not left any more
		if r := holders[lease]; r != nil {
			p.reapedUnder(r, t.Status)
		}
	}
	p.mu.Unlock()
	for name, n := range ready {
		p.q.Forget(name)
		for range n {
			if !p.wakeOne(name, nil) {
				break
			}
		}
	}
}

// reapedUnder acts on a reclaimed lease that a worker of this pool held. The lock is held.
func (p *Pool) reapedUnder(r *run, now queue.Status) {
	switch w := r.worker; {
	case w.crashed:
		w.forget(r)
		w.refresh()
	case r.stale || r.lost || r.phase == settling: // it will find out
	default:
		p.loseLease(r, "", now)
	}
}

// allRuns are the runs of all workers by their leases. The lock is held.
func (p *Pool) allRuns() map[queue.Lease]*run {
	runs := map[queue.Lease]*run{}
	for _, w := range p.workers {
		for _, r := range w.runs {
			runs[r.lease] = r
		}
	}
	return runs
}
