package workers

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// brittle panics in whichever of its methods is asked first.
type brittle struct{ text, in string }

func (b *brittle) Error() string {
	if b.in == "Error" {
		panic("brittle Error")
	}
	return b.text // of a typed nil: a nil dereference
}

func (b *brittle) Unwrap() error {
	if b.in == "Unwrap" {
		panic("brittle Unwrap")
	}
	return nil
}

func (b *brittle) Is(error) bool { return b.panics("Is") }
func (b *brittle) As(any) bool   { return b.panics("As") }
func (b *brittle) panics(in string) bool {
	if b.in == in {
		panic("brittle " + in)
	}
	return false
}

// An error that cannot be read is a bug of the handler's, as a panic is: it ends this
// job and nothing else.
func TestErrorThatPanicsWhenReadIsBuriedAsAPanic(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	var typedNil *brittle
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"typed nil":  {typedNil, "a *workers.brittle, cannot be read: runtime error: invalid memory address"},
		"Error":      {&brittle{in: "Error"}, "a *workers.brittle, cannot be read: brittle Error"},
		"Unwrap":     {&brittle{in: "Unwrap"}, "cannot be read: brittle Unwrap"},
		"As":         {&brittle{in: "As"}, "cannot be read: brittle As"},
		"wrapped":    {errors.Join(errors.New("boom"), typedNil), "a *errors.joinError, cannot be read: "},
		"permanent":  {queue.Permanent(typedNil), "cannot be read: "},
		"is, unread": {&brittle{in: "Is", text: "boom"}, ""}, // nobody asks it
	} {
		for _, middleware := range []struct {
			name   string
			around []Middleware
		}{{"alone", nil}, {"in Logging", []Middleware{Logging(slog.New(slog.DiscardHandler))}}, {"in Recover", []Middleware{Recover()}}} {
			t.Run(name+" "+middleware.name, func(t *testing.T) {
				kind := t.Name()
				h := NewHandlers()
				h.Kind(kind, func(context.Context, *queue.Job) error { return c.err }, WithMiddleware(middleware.around...))
				told := make(chan Settled, 1)
				p := newPool(t, q, h, Options{Settled: func(s Settled) { _ = s.Err.Error(); told <- s }})
				start(t, p)
				spawn(t, p, 1, kind)
				id := enqueue(t, q, queue.NewJob{Queue: kind, Kind: kind})[0]
				want := queue.Dead
				if c.says == "" {
					want = queue.Pending
				}
				if s := receive(t, "the outcome", told); s.Status != want || !strings.Contains(s.Err.Error(), c.says) {
					t.Errorf("told %s: %v", s.Status, s.Err)
				}
				if job := get(t, q, id); job.Status != want || !strings.Contains(job.LastError, c.says) {
					t.Errorf("it is %s: %s", job.Status, job.LastError)
				}
				if c.says != "" {
					waitFor(t, p, Panicked, func(e Event) bool { return e.JobID == id && strings.Contains(e.Text, c.says) })
				}
			})
		}
	}
}

func TestPanickingBackoffGivesTheDefaultOne(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	h := on(func(context.Context, *queue.Job) error { return errors.New("boom") }, WithBackoff(func(int) time.Duration { panic("no idea") }))
	p := startPool(t, q, h, Options{}, 1)
	for _, id := range enqueue(t, q, queue.NewJob{}, queue.NewJob{}) {
		e := waitFor(t, p, Mishap, func(e Event) bool { return e.JobID == id })
		if !strings.Contains(e.Text, "backoff panicked") || !strings.HasSuffix(e.Text, ": no idea") {
			t.Errorf("told as %q", e.Text)
		}
		waitUntil(t, p, "the retry", func() bool { return len(get(t, q, id).Errors) == 1 })
		if job := get(t, q, id); job.Status != queue.Pending || job.LastError != "boom" || job.RunAt.Sub(job.UpdatedAt) < time.Minute {
			t.Errorf("it is %s: %s, due after %v", job.Status, job.LastError, job.RunAt.Sub(job.UpdatedAt))
		}
	}
}

// panicky is a slog handler that does.
type panicky struct{ slog.Handler }

func (panicky) Handle(context.Context, slog.Record) error { panic("disk full") }

// Whichever callback panics, and it does so each time, the jobs end as their handlers
// said, in this process, and the pool stops in order.
func TestPanickingCallbacksCostNoJob(t *testing.T) {
	t.Parallel()
	logger := slog.New(panicky{slog.NewTextHandler(nil, nil)})
	for name, c := range map[string]struct {
		o      Options
		around []Middleware
	}{
		"Options.Events":        {o: Options{Events: func(Event) { panic("disk full") }}},
		"Options.Settled":       {o: Options{Settled: func(Settled) { panic("disk full") }}},
		"Options.Logger":        {o: Options{Logger: logger}},
		"the logger of Logging": {around: []Middleware{Logging(logger)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := openQueue(t)
			p := startPool(t, q, on(func(_ context.Context, job *queue.Job) error {
				switch job.Kind {
				case "panic":
					panic("poor thing")
				case "error":
					return errors.New("boom")
				}
				return nil
			}, WithMiddleware(c.around...)), c.o, 2)
			ids := map[string]int64{}
			for _, kind := range []string{"fine", "error", "panic", "fine again"} {
				ids[kind] = enqueue(t, q, queue.NewJob{Kind: kind, MaxAttempts: 1})[0]
			}
			for kind, want := range map[string]queue.Status{"fine": queue.Completed, "error": queue.Failed, "panic": queue.Dead, "fine again": queue.Completed} {
				waitStatus(t, p, ids[kind], want)
			}
			if job := get(t, q, ids["panic"]); !strings.HasPrefix(job.LastError, "panic: poor thing") {
				t.Errorf("buried with %q", job.LastError)
			}
			e := waitFor(t, p, Mishap)
			if e.Text != name+" panicked, which is told once: disk full" {
				t.Errorf("told as %q", e.Text)
			}
			if err := p.Stop(context.Background()); err != nil {
				t.Errorf("stop: %v", err)
			}
			told := 0
			events, _ := p.Events(0)
			for _, e := range events {
				if e.What == Mishap {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}

// Events go on after one at which the callback panicked.
func TestEventsAfterAPanicAreTold(t *testing.T) {
	t.Parallel()
	told := make(chan Event, 100)
	p := startPool(t, openQueue(t), on(nothing), Options{Events: func(e Event) {
		if e.What == Spawned {
			panic("spawned")
		}
		told <- e
	}}, 1)
	if e := receive(t, "the mishap", told); e.What != Mishap {
		t.Errorf("told %+v", e)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	for e := receive(t, "the end", told); e.What != WorkerEnded; e = receive(t, "the end", told) {
	}
}

func TestMiddlewareThatPanicsIsRefused(t *testing.T) {
	t.Parallel()
	broken := func(Handler) Handler { panic("no configuration") }
	everywhere := on(nothing)
	everywhere.Use(broken)
	for where, h := range map[string]*Handlers{`queue "q": `: on(nothing, WithMiddleware(broken)), "jobs without a handler: ": everywhere} {
		if _, err := New(anywhere(t, 4), h, Options{}); err == nil || !strings.Contains(err.Error(), where+"a middleware panics: no configuration") {
			t.Errorf("%s%v", where, err)
		}
	}
}

// A callback that ends its goroutine leaves its slot all the same.
func TestCallbackThatEndsItsGoroutineFreesTheSlot(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(nothing), Options{Settled: func(Settled) { runtime.Goexit() }}, 1)
	for _, id := range enqueue(t, q, queue.NewJob{}, queue.NewJob{}) {
		waitStatus(t, p, id, queue.Completed)
	}
}
