package workers

import (
	"context"
	"time"
)

// LeaseGone is closed once the job of a handler's context is not its worker's any
// more: its lease was lost or cannot be trusted, its worker crashed, or a stop gave
// it up. A context is cancelled only once, with the first cause: a handler that
// takes its time to end after [ErrDrained], say, learns here that none is left.
// For any other context it is nil.
func LeaseGone(ctx context.Context) <-chan struct{} {
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		return r.gone
	}
	return nil
}

// TimeToReturn is how long a handler may take to return once its context was
// cancelled, before a pool that stops gives it up; less once the stop is forced. It
// is 0 for any other context.
func TimeToReturn(ctx context.Context) time.Duration {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return 0
	}
	p := r.worker.pool
	select {
	case <-p.forced:
		return min(p.o.rest(), lastMoment)
	default:
		return p.o.rest()
	}
}

// letGo tells the handler that the lease is not ours any more. The lock is held.
func (r *run) letGo() {
	select {
	case <-r.gone:
	default:
		close(r.gone)
	}
}
