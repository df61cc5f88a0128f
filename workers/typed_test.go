package workers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

type letter struct {
	To   []struct{ Address string }
	Sent time.Time
	Size int8
	Any  any
}

func TestTypedHandlerGetsItsPayloadDecoded(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	got := make(chan letter, 1)
	p := startPool(t, q, on(Typed(func(_ context.Context, job *queue.Job, l letter) error {
		if job.Attempts != 1 {
			t.Errorf("attempt %d", job.Attempts)
		}
		got <- l
		return nil
	})), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{Payload: []byte(`{"to": [{"address": "a@b.c"}], "any": 1970670598291982290, "unknown": true}`)})[0]
	l := receive(t, "the payload", got)
	if len(l.To) != 1 || l.To[0].Address != "a@b.c" || l.Any != json.Number("1970670598291982290") {
		t.Errorf("decoded as %+v", l)
	}
	waitStatus(t, p, id, queue.Completed)
}

func TestUndecodablePayloadIsBuriedWithTheFieldNamed(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(Typed(func(context.Context, *queue.Job, letter) error {
		t.Error("the handler was called")
		return nil
	})), Options{}, 1)
	for payload, want := range map[string]string{
		`{"to": [{"address": 5}]}`:             `payload: field "To.Address" is of type number, want string`,
		`{"size": 300}`:                        `payload: field "Size" is of type number 300, want int8`,
		`{"any": 1, "sent": "noon", "to": []}`: `payload: field "sent": parsing time`,
		`["not", "an", "object"]`:              `payload: it is of type array, want workers.letter`,
	} {
		id := enqueue(t, q, queue.NewJob{Payload: []byte(payload)})[0]
		job := waitStatus(t, p, id, queue.Dead)
		if job.Attempts != 1 || !strings.Contains(job.LastError, want) {
			t.Errorf("%s: attempts %d, error %q; want %q", payload, job.Attempts, job.LastError, want)
		}
	}
}

func TestTypedWithoutAFunctionIsRefused(t *testing.T) {
	t.Parallel()
	h := NewHandlers()
	h.Kind("k", Typed[letter](nil))
	if _, err := New(anywhere(t, 4), h, Options{}); err == nil || !strings.Contains(err.Error(), `handler for kind "k" is nil`) {
		t.Errorf("got %v", err)
	}
}
