package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestTimeoutCancelsTheHandlerAndTheJobIsRetried(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := startPool(t, q, on(untilCancelled(causes), WithMiddleware(Timeout(50*time.Millisecond))), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	if cause := receive(t, "the handler", causes); !errors.Is(cause, ErrTimeout) {
		t.Errorf("cancelled because of %v, want ErrTimeout", cause)
	}
	job := waitStatus(t, p, id, queue.Pending)
	if want := "handler timed out after 50ms: context deadline exceeded"; job.LastError != want || job.Attempts != 1 {
		t.Errorf("attempts %d, error %q; want %q", job.Attempts, job.LastError, want)
	}
}

func TestTimeoutKeepsWhatTheHandlerSays(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	ended := Timeout(time.Nanosecond)
	for want, h := range map[string]Handler{
		"<nil>": ended(func(ctx context.Context, _ *queue.Job) error { <-ctx.Done(); return nil }),
		"handler timed out": ended(func(ctx context.Context, _ *queue.Job) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}),
		"handler timed out after 1ns: boom": ended(func(ctx context.Context, _ *queue.Job) error {
			<-ctx.Done()
			return queue.Permanent(boom)
		}),
		"boom": Timeout(time.Hour)(func(context.Context, *queue.Job) error { return boom }),
		"no deadline": Timeout(0)(func(ctx context.Context, _ *queue.Job) error {
			if _, ok := ctx.Deadline(); ok {
				return errors.New("a deadline")
			}
			return errors.New("no deadline")
		}),
	} {
		err := h(context.Background(), &queue.Job{})
		if got := errorOrNil(err); got != want {
			t.Errorf("it ends with %q, want %q", got, want)
		}
		if errors.Is(err, boom) && want != "boom" && !queue.IsPermanent(err) {
			t.Errorf("%q is permanent no more", want)
		}
	}
}

func errorOrNil(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

func TestHandlerThatIgnoresItsTimeoutCountsAsStuckUntilItReturns(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	inside := make(chan struct{})
	p := newPool(t, q, on(func(context.Context, *queue.Job) error { <-g.ch; return nil },
		WithMiddleware(func(next Handler) Handler {
			return func(ctx context.Context, job *queue.Job) error {
				defer func() { <-inside }() // goes on after the handler that was too slow
				return next(ctx, job)
			}
		}, Timeout(time.Millisecond))), Options{Grace: 300 * time.Millisecond})
	defer close(inside)
	defer g.open()
	start(t, p)
	spawn(t, p, 2, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	if e := waitFor(t, p, StuckFound); e.JobID != id {
		t.Errorf("found stuck: job %d, want %d", e.JobID, id)
	}
	if n, s := p.Stuck(), p.Workers()[0]; n != 1 || s.Stuck != 1 {
		t.Errorf("%d stuck, by the worker %d; want 1", n, s.Stuck)
	}
	g.open()
	waitUntil(t, p, "nobody to be stuck", func() bool { return p.Stuck() == 0 })
	if s := p.Workers()[0]; len(s.Running) != 1 {
		t.Errorf("%d running, want the rest of it", len(s.Running))
	}
}
