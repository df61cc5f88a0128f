package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

// outcome is how a claim is to end.
type outcome struct {
	name     string       // of what is written, for messages
	status   queue.Status // what it leaves, unless the job was cancelled; "" for a retry, which may leave pending or failed
	write    func(context.Context, *queue.Queue, queue.Lease) (queue.Status, error)
	batched  bool // it finds a place by itself, if it needs one: see alone
	gaveBack bool // the attempt is returned
	once     bool // the lease is not trusted any more: one try, which the fence makes safe, once the row is not locked
}

// settle turns what the handler returned into what is written.
func (r *run) settle(err error) {
	p := r.worker.pool
	v := read(err)
	err = v.err
	p.mu.Lock()
	if r.phase != abandoned {
		r.phase, r.err = settling, err
	}
	lost, done, cancelled := r.lost, r.done, r.cancelledBy != ""
	cause := context.Cause(r.ctx)
	p.mu.Unlock()

	if v.crash != nil {
		p.emit(Event{Worker: r.worker.name, What: Panicked, JobID: r.job.ID, Queue: r.job.Queue, Text: "panic: " + v.crash.value})
	}
	switch {
	case lost && !errors.Is(cause, ErrTrustEnded):
		return // somebody else may have the job
	case done && err == nil:
		r.write(r.commitment(errors.Is(cause, ErrTrustEnded)))
	case err == nil:
		r.write(r.completion(errors.Is(cause, ErrTrustEnded)))
	case errors.Is(cause, ErrTrustEnded): // the lease runs out, and a reaper gives the job back
		r.leaveBehind()
	case cancelled:
		r.write(r.cancellation(v.text))
	default:
		r.write(r.failure(v, cause))
	}
}

func (r *run) completion(once bool) outcome {
	return outcome{
		name: "completion", status: queue.Completed, batched: true, once: once,
		write: func(_ context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			if r.isAside() { // no batch is to be refused for it again
				alone := &batch{leases: []queue.Lease{l}}
				alone.write(q)
				return queue.Completed, alone.outcome(l)
			}
			return queue.Completed, r.worker.pool.completions.complete(q, l)
		},
	}
}

// alone writes one outcome by itself. It waits for a place first: such statements never
// take the last connections, which claims and completions need. Those whose row was
// found locked wait in a line of their own, of which one at a time asks for a place:
// however many they are, the others' outcomes go on between them.
func (p *Pool) alone(ctx context.Context, r *run, do func(context.Context) error) error {
	if r.locked {
		select {
		case p.again <- struct{}{}:
		case <-ctx.Done():
			return queue.ErrLocked
		}
		defer func() { <-p.again }()
	}
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.places }()
	return do(queue.Hasty(ctx))
}

// failure classifies an error by its type.
func (r *run) failure(v verdict, cause error) outcome {
	if v.snoozed {
		r.waits = v.snooze
		return outcome{
			name: "snooze", status: queue.Pending, gaveBack: true,
			write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
				return q.Snooze(ctx, l, v.snooze)
			},
		}
	}
	switch {
	case v.crash != nil || v.permanent:
		return outcome{
			name: "burial", status: queue.Dead,
			write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
				return queue.Dead, q.Bury(ctx, l, v.text)
			},
		}
	case errors.Is(cause, ErrDrained):
		return outcome{
			name: "release", status: queue.Pending, gaveBack: true,
			write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
				return q.Release(ctx, l)
			},
		}
	}
	delay := r.delay()
	r.waits = delay
	return outcome{
		name: "retry",
		write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			return q.Retry(ctx, l, v.text, delay)
		},
	}
}

const (
	// outcomePatience bounds one try to write an outcome.
	outcomePatience = 10 * time.Second
	// mostTries bounds them all, for errors that only look as if they would pass:
	// while heartbeats get through, trust never ends.
	mostTries = 100
)

// write writes the outcome with a context of its own, so that it lands after a
// stop signal too. Lost connections and locked rows are tried again for as long as the
// lease is trusted; heartbeats go on meanwhile.
func (r *run) write(o outcome) {
	w, p := r.worker, r.worker.pool
	again := pace{min: 50 * time.Millisecond, max: time.Second}
	unsure := false // an earlier try may have been written without our hearing of it
	began := p.clock()
	for tries := 1; ; {
		if p.isFrozen(w) {
			p.signals.held.send(r.job.ID)
		}
		if !w.begin() {
			p.signals.dropped.send(r.job.ID)
			return
		}
		status, err := r.tryWrite(o)
		if errors.Is(err, queue.ErrLeaseLost) {
			if left, ok := r.landed(o, unsure); ok {
				status, err = left, nil
			} else {
				r.fence(o.name)
			}
		}
		w.end()
		r.locked = errors.Is(err, queue.ErrLocked)
		switch {
		case err == nil:
			p.works("outcomes")
			if status == queue.Dead && o.status != queue.Dead {
				p.tellCancelled(r, fmt.Sprintf("job %d cancelled while its handler ended", r.job.ID))
			}
			r.count(status, o.gaveBack && status == queue.Pending)
			return
		case errors.Is(err, queue.ErrLeaseLost):
			return
		case r.locked: // which is no trouble of the server's
			p.signals.locked.send(r.job.ID)
		case errors.Is(err, queue.ErrRowRefused):
			if !r.outcomeRefused(o, err) {
				return
			}
			continue
		case !transient(err) || tries == mostTries:
			p.emit(Event{
				Worker: w.name, What: DBTrouble, JobID: r.job.ID, Queue: r.job.Queue,
				Text: fmt.Sprintf("the %s cannot be written, the lease will run out: %v", o.name, err),
			})
			r.leaveBehind()
			return
		default:
			tries++
			unsure = true
			p.trouble("outcomes", err)
			p.heart.doubt()
		}
		waits := r.locked && p.clock()-began < outcomePatience // for the row, as a statement would
		if o.once && !waits || !o.once && r.untrusted() {
			if unsure {
				status, known := r.reread(o)
				if status != "" {
					r.regain()
					r.count(status, o.gaveBack && status == queue.Pending)
					return
				}
				if !known {
					err = fmt.Errorf("%w; it may have been written, but the job could not be read", err)
				}
			}
			p.emit(Event{
				Worker: w.name, What: TrustEnded, JobID: r.job.ID, Queue: r.job.Queue,
				Text: fmt.Sprintf("the %s could not be written in time: %v", o.name, err),
			})
			r.leaveBehind()
			return
		}
		timer := time.NewTimer(again.next())
		select {
		case <-timer.C:
		case <-w.gone:
		}
		timer.Stop()
	}
}

func (r *run) tryWrite(o outcome) (queue.Status, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), outcomePatience)
	defer cancel()
	p := r.worker.pool
	if o.batched {
		return o.write(ctx, p.q, r.lease)
	}
	var status queue.Status
	err := p.alone(ctx, r, func(ctx context.Context) (err error) {
		status, err = o.write(ctx, p.q, r.lease)
		return err
	})
	return status, err
}

// untrusted reports, and counts, that the lease's trust has ended.
func (r *run) untrusted() bool {
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.lost || r.stale {
		return true
	}
	if p.clock() < r.trust {
		return false
	}
	r.lost = true
	r.worker.lost++
	p.release(r)
	return true
}

// count notes an outcome that was written. A job given back counts as nothing.
func (r *run) count(status queue.Status, gaveBack bool) {
	defer r.tellSettled(status, gaveBack) // which waits for the user's code
	if gaveBack {
		return
	}
	w := r.worker
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.processed++
	if status == queue.Completed {
		w.completed++
	} else {
		w.failed++
	}
}

// transient tells errors of the connection or the moment, which a later try may
// not meet, from those that every try would.
func transient(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return true
	}
	switch pg.Code[:2] {
	case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, state, operator, system
		return true
	}
	return strings.HasPrefix(pg.Code, "25006") // read only: a standby, until it is promoted
}
