package workers

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// phase is how far a run has come.
type phase int

const (
	confirming phase = iota // claimed; the lease may have to be renewed first
	handling
	settling  // the handler returned; its outcome is to be written
	abandoned // its worker crashed; it stays listed until its lease is gone
)

// run is one claim of one job in one slot. Its fields below since are guarded by
// the pool's lock.
type run struct {
	worker  *worker
	job     *queue.Job
	lease   queue.Lease
	handler handler
	length  time.Duration // of each renewal
	ctx     context.Context
	cancel  context.CancelCauseFunc
	renewed chan struct{} // a renewal came, or the run is stale
	gone    chan struct{} // closed once the lease is not ours any more; see LeaseGone
	since   time.Time     // wall clock, for screens
	waits   time.Duration // what its outcome puts the job off by; its own goroutine's
	locked  bool          // the last try to write its outcome found its row locked; its own goroutine's

	phase   phase
	sent    time.Duration // boot clock: when the last successful claim or heartbeat was sent
	trust   time.Duration // boot clock: until when the lease is trusted
	margin  time.Duration // how long before the lease's end that is
	refused bool          // the last heartbeat did not renew it, and came back while it was trusted
	sure    time.Duration // boot clock: when the lease has run out for certain
	// why the server refuses to renew the lease, and for how long it is not asked to; nil: it does not
	rowRefused *queue.Refusal
	passed     time.Duration
	asideFor   time.Duration // how long its completion waits for the next try
	aside      bool          // the server refuses its completion, which is tried again without a slot
	beatDue    time.Duration // boot clock: when the next heartbeat should be sent
	lost       bool          // the lease is gone: no more heartbeats
	stale      bool          // its worker was frozen: no heartbeats, no trust, a late outcome
	done       bool          // completed in the handler's transaction, if that committed
	err        error         // what the handler returned, once it is settling
	asked      time.Duration // boot clock: when its handler was asked to stop; 0 for not
	stuck      bool          // and it has not, for longer than the grace period
	// who wants the job cancelled, as far as this process knows; "" nobody
	cancelledBy string
}

type runKey struct{}

func newRun(w *worker, job *queue.Job) *run {
	p := w.pool
	r := &run{worker: w, job: job, lease: job.Lease(), handler: p.handlers.of(job), renewed: make(chan struct{}, 1), gone: make(chan struct{}), since: p.wall()}
	r.length = p.renewalLease(r.handler, job)
	r.ctx, r.cancel = context.WithCancelCause(context.WithValue(p.base, runKey{}, r))
	return r
}

// serve takes the job from claim to outcome.
func (r *run) serve() {
	err := errGoexit
	// Deferred, so that a handler which ends its goroutine still gets an outcome, and a
	// callback which does frees its slot.
	defer r.leave()
	defer func() { r.settle(err) }()
	if r.job.CancelledBy != "" {
		err = r.refuse()
		return
	}
	if !r.confirm() {
		err = context.Cause(r.ctx)
		return
	}
	err = r.call()
}

// confirm waits until the lease can be trusted long enough for a heartbeat to
// come back. That is so from the start, unless the claim's answer took long or
// the process was stopped meanwhile: then it is renewed before it is trusted.
func (r *run) confirm() bool {
	p := r.worker.pool
	for {
		p.mu.Lock()
		now := p.clock()
		need := p.o.needed(r.length, p.heart.roundTripLocked())
		if r.stale || (r.trust-now > need && r.ctx.Err() == nil) {
			r.phase = handling
			p.mu.Unlock()
			p.lookAtClock()
			p.signals.began.send(r.job.ID)
			return true
		}
		r.beatDue = now
		p.heart.look()
		p.mu.Unlock()
		select {
		case <-r.renewed:
		case <-r.ctx.Done():
			return false
		}
	}
}

// errGoexit is the outcome of a handler that neither returned nor panicked.
var errGoexit = queue.Permanent(errors.New("panic: the handler ended its goroutine (runtime.Goexit)"))

// call runs the handler; a panic becomes a permanent error with its stack.
func (r *run) call() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = caught(v)
		}
	}()
	return r.handler.do(r.ctx, r.job)
}

// stop asks the handler to end. The lock is held.
func (r *run) stop(cause error) {
	if r.asked == 0 {
		r.asked = r.worker.pool.clock()
	}
	r.cancel(cause)
}

// lose is stop for a lease that is gone: no more heartbeats. The lock is held.
func (r *run) lose(cause error) {
	r.lost = true
	r.worker.lost++
	r.worker.pool.release(r)
	r.letGo()
	r.stop(cause)
}

// leave frees the slot. A crashed worker's runs stay listed until their leases
// are gone.
func (r *run) leave() {
	r.cancel(context.Canceled)
	w, p := r.worker, r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(r)
	if w.crashed {
		return
	}
	w.forget(r)
	w.refresh()
	w.poke()
}

// forget takes a run off the worker's list. The lock is held.
func (w *worker) forget(r *run) {
	for i, other := range w.runs {
		if other == r {
			if r.aside {
				w.aside--
			}
			w.runs = append(w.runs[:i], w.runs[i+1:]...)
			return
		}
	}
}

// ErrNoJob is returned by [CompleteTx] when its context is not a handler's.
var ErrNoJob = errors.New("complete in a transaction: the context is not that of a handler")

// CompleteTx completes the job of a handler's context within tx, so that what
// the handler did there and the completion are one commit. Call it last, commit
// at once, for the row is locked until then, and return nil. A job whose transaction
// turns out not to be committed is retried, with [ErrNotCommitted]. On an error,
// [queue.ErrLeaseLost] above all, roll back and return it: the job may be running
// elsewhere.
func CompleteTx(ctx context.Context, tx pgx.Tx) error {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return ErrNoJob
	}
	w, p := r.worker, r.worker.pool
	if !w.begin() {
		return ErrCrashed
	}
	defer w.end()
	err := p.q.CompleteTx(ctx, tx, r.lease)
	if errors.Is(err, queue.ErrLeaseLost) {
		r.fence("completion")
	}
	if err == nil {
		p.mu.Lock()
		r.done = true
		p.mu.Unlock()
	}
	return err
}
