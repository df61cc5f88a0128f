package child

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// cannotStart is an error that says nothing about the job: the program is not
// there, or this machine cannot start it just now.
type cannotStart struct{ error }

func (e *cannotStart) Unwrap() error { return e.error }

// unable slows down a process that cannot start the program. Nothing is quicker
// than to fail: without it the one sick machine would claim all there is, and use up
// the attempts of jobs that others could do.
type unable struct {
	least, most time.Duration // by which a job that could not be begun is put off
	told        func(error)   // once in each spell

	mu           sync.Mutex
	since, again time.Time // the first and the latest failure of the spell
}

// A job is put off for as long as the spell has lasted, within these bounds. The slot
// rests as long, but no longer than slotsRest: a handler learns of a drain only when its
// grace period is nearly over, so an idle worker would take that long to stop.
const (
	leastRest = time.Second
	mostRest  = 30 * time.Second
	slotsRest = 5 * time.Second
)

// failed counts a failure and returns how long to put the job off. A spell is over when
// there was no failure for twice the longest delay: beginnings that succeed in between do
// not end it, for a machine that lacks descriptors or memory can start a few.
func (u *unable) failed(err error) (delay time.Duration) {
	now := time.Now()
	u.mu.Lock()
	first := u.since.IsZero() || now.Sub(u.again) > 2*u.most
	if first {
		u.since = now
	}
	u.again = now
	delay = min(max(now.Sub(u.since), u.least), u.most)
	u.mu.Unlock()
	if first && u.told != nil {
		u.told(err)
	}
	return delay
}

// giveBack keeps the slot for its rest, with the job, and then puts the job off without
// using an attempt. The end of ctx ends the rest; at that of a drain the job is released.
func (u *unable) giveBack(ctx context.Context, err error) error {
	delay := u.failed(err)
	timer := time.NewTimer(min(delay, slotsRest))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, workers.ErrDrained) {
			return fmt.Errorf("%w: %w", cause, err)
		}
	}
	return fmt.Errorf("%w: %w", queue.Snooze(delay), err)
}
