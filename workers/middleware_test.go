package workers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestMiddlewareStandsAroundEveryHandlerTheFirstOutermost(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	var order []string // one slot, so one handler at a time
	named := func(name string) Middleware {
		return func(next Handler) Handler {
			return func(ctx context.Context, job *queue.Job) error {
				order = append(order, name+" in")
				err := next(ctx, job)
				order = append(order, name+" out")
				return err
			}
		}
	}
	h := NewHandlers()
	h.Kind("own", func(ctx context.Context, job *queue.Job) error {
		order = append(order, "handler")
		return l.effect(ctx, job) // which needs the handler's context
	}, WithMiddleware(named("c"), named("d")))
	h.Use(named("a"))
	h.Use(named("b"))
	p := startPool(t, q, h, Options{}, 1)
	id := enqueue(t, q, queue.NewJob{Kind: "own"})[0]
	waitStatus(t, p, id, queue.Completed)
	waitUntil(t, p, "the slot", func() bool { return p.Workers()[0].Processed == 1 })
	want := []string{"a in", "b in", "c in", "d in", "handler", "d out", "c out", "b out", "a out"}
	if !slices.Equal(order, want) {
		t.Errorf("in the order %q, want %q", order, want)
	}
	order = nil
	id = enqueue(t, q, queue.NewJob{Kind: "nobody's"})[0]
	waitUntil(t, p, "the job without a handler", func() bool { return p.Workers()[0].Processed == 2 })
	if want := []string{"a in", "b in", "b out", "a out"}; !slices.Equal(order, want) {
		t.Errorf("around the job without a handler %q, want %q", order, want)
	}
	if job := get(t, q, id); !strings.Contains(job.LastError, "no handler") {
		t.Errorf("it ended with %q", job.LastError)
	}
}

func TestMiddlewareDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	h := on(func(context.Context, *queue.Job) error { return errors.New("boom") }, WithMiddleware(func(next Handler) Handler {
		return func(ctx context.Context, job *queue.Job) error { return queue.Permanent(next(ctx, job)) }
	}))
	p := startPool(t, q, h, Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	if job := waitStatus(t, p, id, queue.Dead); job.LastError != "boom" {
		t.Errorf("it ended with %q", job.LastError)
	}
}

func TestMiddlewareThatIsNoneIsToldByNew(t *testing.T) {
	t.Parallel()
	q := anywhere(t, 4)
	for want, h := range map[string]*Handlers{
		`jobs without a handler: a middleware is nil`: func() *Handlers { h := on(nothing); h.Use(nil); return h }(),
		`queue "q": a middleware is nil`:              on(nothing, WithMiddleware(nil)),
		`queue "q": a middleware returns no handler`:  on(nothing, WithMiddleware(func(Handler) Handler { return nil })),
	} {
		if _, err := New(q, h, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
