package child

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// usualTime is what a handler that belongs to no pool gives its child to end.
const usualTime = 2 * time.Second

// watch ends the child when its job must stop. It returns why, or nil when the
// child ended before, and returns as soon as the child has ended.
func (p *process) watch(ctx context.Context, exited <-chan struct{}, patience func(context.Context) time.Duration) (asked error) {
	gone := workers.LeaseGone(ctx)
	select {
	case <-exited:
		return nil
	case <-gone:
	case <-ctx.Done():
	}
	asked = context.Cause(ctx)
	if asked == nil { // the lease went just now, and the context is about to end
		asked = queue.ErrLeaseLost
	}
	if !atOnce(asked) {
		p.signal(syscall.SIGTERM)
		p.signal(syscall.SIGCONT) // who is stopped heeds no SIGTERM
		timer := time.NewTimer(patience(ctx))
		defer timer.Stop()
		select {
		case <-exited:
			return asked
		case <-gone:
		case <-timer.C:
		}
	}
	p.signal(syscall.SIGKILL)
	return asked
}

// atOnce tells whether somebody else may own the job, or will at any moment.
func atOnce(cause error) bool {
	return errors.Is(cause, queue.ErrLeaseLost) || errors.Is(cause, workers.ErrTrustEnded) || errors.Is(cause, workers.ErrCrashed)
}

// timeToEnd is how long a child may take from SIGTERM to its end. The last quarter
// of the time is ours, to see its end and return.
func timeToEnd(ctx context.Context) time.Duration {
	most := workers.TimeToReturn(ctx)
	if most == 0 {
		most = usualTime
	}
	return most * 3 / 4
}
