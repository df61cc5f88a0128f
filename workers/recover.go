package workers

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/leasetop/leasetop/queue"
)

// Recover makes a panic an ordinary error, so that the job is retried. Without
// it a panic is taken for a bug that a retry would only meet again, and the job
// is buried.
func Recover() Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, job *queue.Job) (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = errors.New(caught(v).Error()) // not of the type that buries
				}
			}()
			return next(ctx, job)
		}
	}
}

// stackKept bounds the stack that is kept of a panic.
const stackKept = 4 << 10

// caught is a panic with the stack that leads to it. Call it where the panic was recovered.
func caught(v any) *panicked {
	stack := string(debug.Stack())
	// Above the second "panic(" line stands this function, not the handler.
	if _, below, ok := strings.Cut(stack, "\npanic("); ok {
		stack = "panic(" + below
	}
	if len(stack) > stackKept {
		stack = strings.ToValidUTF8(stack[:stackKept], "") + "…"
	}
	return &panicked{fmt.Sprint(v), stack}
}

// panicIn finds the panic that an error is of, nil for none.
func panicIn(err error) (crash *panicked) {
	errors.As(err, &crash)
	return crash
}

// panicked is a handler's panic.
type panicked struct{ value, stack string }

func (p *panicked) Error() string { return "panic: " + p.value + "\n\n" + p.stack }
