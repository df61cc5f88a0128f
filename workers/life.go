package workers

import (
	"context"
	"sync"
)

// life is the life of one long-lived service. start returns at once; end asks it
// to end, with a cause; ended is closed once it has. All tolerate being called
// twice and in any order: what was ended before its start never runs.
type life struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil before start
	done   chan struct{}
	over   bool // end was called
}

// start runs serve in a goroutine of its own, with a context that end cancels.
// It reports false when the service was started or ended before.
func (l *life) start(ctx context.Context, serve func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil || l.over {
		return false
	}
	ctx, l.cancel = context.WithCancelCause(ctx)
	done := l.finished()
	go func() {
		defer close(done)
		defer l.cancel(context.Canceled)
		serve(ctx)
	}()
	return true
}

// end asks the service to end. It reports false when it was asked before.
func (l *life) end(cause error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	if l.cancel == nil {
		close(l.finished())
		return true
	}
	l.cancel(cause)
	return true
}

// stop is end, then waiting.
func (l *life) stop(cause error) {
	l.end(cause)
	<-l.ended()
}

// ended is closed when the service has ended.
func (l *life) ended() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished()
}

func (l *life) finished() chan struct{} {
	if l.done == nil {
		l.done = make(chan struct{})
	}
	return l.done
}
