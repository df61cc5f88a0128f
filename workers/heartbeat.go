package workers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// heart renews all leases of the process, one statement every third of the
// shortest lease, on a connection of its own: a heartbeat must not wait for a
// pooled connection behind busy workers. While that connection does not stand,
// nothing is claimed, since it could not be renewed; so this is also where a
// server that is down is tried again, once for the whole pool.
type heart struct {
	p    *Pool
	wake chan struct{}

	conn    *pgx.Conn      // used by serve alone, as the rest up to slow
	idle    time.Duration  // how long the connection may be silent; 0 is as long as it likes
	refused bool           // the server refused the last heartbeat for jobs
	alike   map[int64]bool // the jobs whose leases it refused to renew since it renewed one
	shy     pace           // how long nothing is claimed after that
	spoke   time.Duration  // boot clock: when it was last used
	slow    int            // how many connections in a row gave no answer in time
	doubted bool           // the fields below are guarded by the pool's lock
	urgent  bool           // the next heartbeat is due now, whenever the last was
	up      bool
	changed chan struct{} // closed and replaced when up changes
	trips   []time.Duration
	warned  time.Duration // the stretch that was told last
}

const (
	connectPatience = 10 * time.Second
	closePatience   = time.Second
	tripsKept       = 5
	// restful is how long the heart waits when no lease is held.
	restful = 20 * time.Second
)

func (h *heart) init(p *Pool) {
	h.p, h.wake, h.changed = p, make(chan struct{}, 1), make(chan struct{})
	h.shy = pace{min: time.Second, max: 5 * time.Minute}
	h.spoke = p.clock()
}

// period is the time between heartbeats.
func (p *Pool) period() time.Duration { return p.o.period(p.shortest) }

// standing tells whether the connection stands; the channel is closed when that changes.
func (h *heart) standing() (up bool, changed <-chan struct{}) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	return h.up, h.changed
}

// await waits until the connection stands, and reports false when ctx ended first.
func (h *heart) await(ctx context.Context) bool {
	for {
		up, changed := h.standing()
		if up {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// look has the heart see again when the next heartbeat is due.
func (h *heart) look() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// doubt has the heart try its connection: another one failed.
func (h *heart) doubt() {
	h.p.mu.Lock()
	h.doubted = true
	h.p.mu.Unlock()
	h.look()
}

// roundTrip is the network delay: the median of the last few round trips. One that a lock
// held up counts for nothing.
func (h *heart) roundTrip() time.Duration {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	return h.roundTripLocked()
}

func (h *heart) roundTripLocked() time.Duration {
	if len(h.trips) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(h.trips))
	return sorted[len(sorted)/2]
}

// took notes a round trip. The lock is held.
func (h *heart) took(trip time.Duration) {
	if len(h.trips) == tripsKept {
		h.trips = h.trips[1:]
	}
	h.trips = append(h.trips, trip)
	// The floor keeps measurements near the limit from being told again and again.
	p := h.p
	needed := p.o.stretched(p.shortest, h.roundTripLocked()).Round(100 * time.Millisecond)
	if needed > p.shortest && needed > h.warned {
		h.warned = needed
		p.emit(Event{What: DBTrouble, Text: fmt.Sprintf("round trips take %v: leases of %v are stretched to %v, which heartbeats can keep",
			h.roundTripLocked().Round(time.Millisecond), p.shortest, needed)})
	}
}

func (h *heart) serve(ctx context.Context) {
	again := pace{min: 20 * time.Millisecond, max: 2 * time.Second}
	defer h.disconnect()
	for ctx.Err() == nil {
		connecting := h.conn == nil
		if connecting && h.refused && !h.renews() {
			h.p.signals.shy.send(true)
			h.refused = !sleep(ctx, h.shy.next()) // the next job may fare better
		}
		err := h.attend(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			h.disconnect()
			h.p.trouble("heartbeats", fmt.Errorf("%w; nothing is claimed until they work", err))
			h.p.signals.beat.send(err)
			sleep(ctx, again.next())
			continue
		}
		if !connecting { // a connection on which every heartbeat fails must not be made again and again
			again.reset()
		}
	}
}

// attend does the next thing there is to do: connect, wait, or beat.
func (h *heart) attend(ctx context.Context) error {
	if h.conn == nil {
		return h.connect(ctx)
	}
	wait, doubted := h.untilDue()
	if doubted && wait > 0 {
		return h.ask(ctx)
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.wake:
		case <-ctx.Done():
		}
		return nil
	}
	return h.beat(ctx)
}

// untilDue is how long it is until the next heartbeat, and whether the connection is doubted.
func (h *heart) untilDue() (wait time.Duration, doubted bool) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	if h.urgent {
		return 0, h.doubted
	}
	now := h.p.clock()
	silence := restful
	if h.idle > 0 { // or the server ends the session
		silence = min(silence, h.idle/2)
	}
	wait = h.spoke + silence - now
	for _, r := range h.p.holders {
		wait = min(wait, r.beatDue-now)
	}
	return wait, h.doubted
}

// beat renews every lease that is held, or asks for a sign of life when none is.
func (h *heart) beat(ctx context.Context) error {
	p := h.p
	runs, renewals := h.gather()
	if len(runs) == 0 {
		return h.ask(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, h.patience())
	defer cancel()
	sent := p.clock()
	h.spoke = sent
	beat, err := p.q.HeartbeatOn(ctx, h.conn, renewals)
	answered := p.clock()

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range runs {
		r.worker.landed()
	}
	if err != nil {
		h.refused = !transient(err)
		return err
	}
	h.doubted = false
	if len(beat.Renewed) == len(runs) { // else it took two
		h.took(answered - sent)
	}
	held := make(map[queue.Lease]*run, len(runs))
	length := make(map[queue.Lease]time.Duration, len(runs))
	for i, r := range runs {
		held[r.lease], length[r.lease] = r, renewals[i].For
		r.beatDue = sent + p.period()
	}
	for _, lease := range beat.Contended {
		held[lease].notRenewed(answered)
	}
	for _, lease := range beat.Renewed {
		r := held[lease]
		r.grant(length[lease], sent, answered)
		select {
		case r.renewed <- struct{}{}:
		default:
		}
	}
	for _, refused := range beat.Refused {
		held[refused.Lease].renewalRefused(refused.Refusal, answered)
	}
	for _, lost := range beat.Lost {
		h.lost(held[lost.Lease], lost)
	}
	for _, c := range beat.Cancelled {
		p.cancelRun(held[c.Lease], c.By)
	}
	if len(beat.Renewed) > 0 {
		p.journal.touch()
		h.refused, h.alike = false, nil
		h.shy.reset()
		p.works("heartbeats")
	} else if err := h.allRefused(beat.Refused); err != nil {
		return err
	}
	p.signals.beat.send(nil)
	return nil
}

// gather lists the leases to renew, each a statement on the way for its worker.
func (h *heart) gather() (runs []*run, renewals []queue.Renewal) {
	p := h.p
	trip, now := h.roundTrip(), p.clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	h.urgent = false
	for _, r := range p.holders {
		if r.rowRefused != nil && now < r.beatDue { // it must not hold up the others each time
			continue
		}
		r.worker.inflight++
		runs = append(runs, r)
		lease := p.o.stretched(r.length, trip)
		renewals = append(renewals, queue.Renewal{Lease: r.lease, For: lease, Left: r.mustBeLeft()})
		// The statement may shorten the lease, as to a kind's own, and its answer be lost.
		r.trust = min(r.trust, p.trusted(now, lease))
	}
	return runs, renewals
}

// lost is told of a lease that a heartbeat found gone. The lock is held.
func (h *heart) lost(r *run, now queue.LostLease) {
	p := h.p
	if p.holders[r.job.ID] != r {
		return // it ended meanwhile
	}
	if r.phase == settling || (r.done && now.Status == queue.Completed) {
		p.release(r) // by its own outcome, which says how it went
		return
	}
	p.loseLease(r, now.Owner, now.Status)
}

// loseLease stops the handler of a lease that is gone. The lock is held.
func (p *Pool) loseLease(r *run, owner string, status queue.Status) {
	text := "the job is gone"
	switch {
	case owner != "":
		text = "now owned by " + owner
	case status != "":
		text = "now " + string(status)
	}
	r.lose(queue.ErrLeaseLost)
	p.emit(Event{
		Worker: r.worker.name, What: LeaseLost, JobID: r.job.ID, Queue: r.job.Queue, Owner: owner,
		Text: fmt.Sprintf("lease of job %d lost: %s", r.job.ID, text),
	})
}

// grant counts a lease that was claimed or renewed by a statement. The lock is held.
func (r *run) grant(lease, sent, answered time.Duration) {
	r.sent, r.margin, r.refused = sent, r.worker.pool.o.margin(lease), false
	r.rowRefused, r.passed = nil, 0
	r.trust = r.worker.pool.trusted(sent, lease)
	r.sure = answered + lease
}

// trusted is until when a lease is trusted that was asked for at a time, whenever the
// statement ran.
func (p *Pool) trusted(sent, lease time.Duration) time.Duration {
	if p.lacks(without.Trust) {
		return sent + endless
	}
	return sent + lease - p.o.margin(lease)
}

// hold counts a run among those that heartbeats renew. The lock is held.
func (p *Pool) hold(r *run) {
	if before := p.holders[r.job.ID]; before != nil {
		// Claimed afresh in this process before the first claim knew that it was lost.
		if before.phase == settling || before.done {
			p.release(before)
		} else {
			p.loseLease(before, r.lease.Token, queue.Processing)
		}
	}
	p.holders[r.job.ID] = r
}

// release takes a run off the heartbeats. The lock is held.
func (p *Pool) release(r *run) {
	if p.holders[r.job.ID] == r {
		delete(p.holders, r.job.ID)
	}
}
