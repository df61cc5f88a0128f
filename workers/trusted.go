package workers

import (
	"context"
	"time"
)

// TrustedFor is how long from now whatever does the job of a handler's context may go
// on without a word from this process, which can be stopped as a whole: by SIGSTOP, a
// debugger, ctrl+z. What the handler has running elsewhere must have ended by then, so
// hand the time to whoever watches over that, and again a few times in each lease: it
// grows with every heartbeat. It ends between the moment when the context would be
// cancelled with [ErrTrustEnded] and the end of the lease, half a margin from both, and
// is negative after that. ok is false for any other context.
//
// It counts on a clock that on Linux goes on while the machine sleeps (CLOCK_BOOTTIME).
// Read that clock before the call, and a stop in between makes the time no longer.
func TrustedFor(ctx context.Context) (left time.Duration, ok bool) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return 0, false
	}
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.trust + p.o.margin(r.length)/2 - p.clock(), true
}
