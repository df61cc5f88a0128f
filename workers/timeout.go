package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// ErrTimeout is the cause of a handler's context that [Timeout] ended, and
// wrapped by the error of a handler that ended because of it.
var ErrTimeout = errors.New("handler timed out")

// Timeout cancels the handler's context after d, with the cause [ErrTimeout]. It
// cannot end a handler that ignores its context: that one keeps its slot, and
// counts as stuck after the grace period. Zero or less sets no limit.
func Timeout(d time.Duration) Middleware {
	return func(next Handler) Handler {
		if d <= 0 {
			return next
		}
		return func(ctx context.Context, job *queue.Job) error {
			limited, cancel := context.WithTimeoutCause(ctx, d, ErrTimeout)
			defer cancel()
			defer watch(limited)()
			err := next(limited, job)
			if err != nil && context.Cause(limited) == ErrTimeout && !errors.Is(err, ErrTimeout) {
				err = fmt.Errorf("%w after %v: %w", ErrTimeout, d, err)
			}
			return err
		}
	}
}
