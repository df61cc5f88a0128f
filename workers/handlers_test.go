package workers

import (
	"context"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestHandlerIsChosenByKindElseByQueue(t *testing.T) {
	t.Parallel()
	var h Handlers
	var ran string
	note := func(name string) Handler {
		return func(context.Context, *queue.Job) error { ran = name; return nil }
	}
	h.Kind("resize", note("kind"))
	h.Queue("images", note("queue"))
	for _, c := range []struct{ queue, kind, want string }{
		{"images", "resize", "kind"}, {"other", "resize", "kind"}, {"images", "crop", "queue"}, {"images", "", "queue"},
	} {
		job := &queue.Job{Queue: c.queue, Kind: c.kind}
		if err := h.of(job).do(context.Background(), job); err != nil || ran != c.want {
			t.Errorf("%s/%s ran by %s (%v), want %s", c.queue, c.kind, ran, err, c.want)
		}
	}
}

func TestMistakesAreToldByNew(t *testing.T) {
	t.Parallel()
	q := anywhere(t, 4)
	for want, h := range map[string]*Handlers{
		"no handlers":                 NewHandlers(),
		"without a name":              func() *Handlers { h := on(nothing); h.Kind("", nothing); return h }(),
		`kind "k " begins or ends`:    func() *Handlers { h := on(nothing); h.Kind("k ", nothing); return h }(),
		`handler for kind "k" is nil`: func() *Handlers { h := on(nothing); h.Kind("k", nil); return h }(),
		`option of kind "k" is nil`:   func() *Handlers { h := on(nothing); h.Kind("k", nothing, nil); return h }(),
		`option of queue "o" is nil`:  func() *Handlers { h := on(nothing); h.Queue("o", nothing, WithBackoff(nil), nil); return h }(),
		"a middleware is nil":         on(nothing, WithMiddleware(nil)),
		`queue "q" has two handlers`:  func() *Handlers { h := on(nothing); h.Queue("q", nothing); return h }(),
	} {
		if _, err := New(q, h, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if _, err := New(q, nil, Options{}); err == nil {
		t.Error("no handlers at all are accepted")
	}
	if _, err := New(nil, on(nothing), Options{}); err == nil || !strings.Contains(err.Error(), "no queue") {
		t.Errorf("without a queue: %v", err)
	}
}

func TestSpawnRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{})
	for want, try := range map[string]struct {
		queues []string
		slots  int
	}{
		"name at least one": {nil, 1},
		"use 1 or more":     {[]string{"q"}, 0},
		"has no name":       {[]string{"q", ""}, 1},
		"with a blank":      {[]string{"q", "q "}, 1},
		"named twice":       {[]string{"q", "q"}, 1},
		"no handler":        {[]string{"else"}, 1},
	} {
		if _, err := p.Spawn(try.queues, try.slots); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("spawn %q with %d slots: %v, want %q", try.queues, try.slots, err, want)
		}
	}
}

func TestJobWithoutHandlerIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	h := NewHandlers()
	h.Kind("known", nothing)
	p := startPool(t, q, h, Options{}, 1)
	id := enqueue(t, q, queue.NewJob{Kind: "new"})[0]
	var job *queue.Job
	waitUntil(t, p, "the attempt", func() bool { job = get(t, q, id); return len(job.Errors) == 1 })
	if job.Status != queue.Pending || !strings.Contains(job.LastError, `no handler for kind "new"`) {
		t.Errorf("the job is %s: %q", job.Status, job.LastError)
	}
}
