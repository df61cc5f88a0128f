package workers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestLoggingSaysHowEachHandlerEnded(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		do         Handler
		level, msg string
		err        any // in the line; nil for none
	}{
		"nil":       {nothing, "INFO", "handler done", nil},
		"error":     {func(context.Context, *queue.Job) error { return boom }, "WARN", "handler failed", "boom"},
		"permanent": {func(context.Context, *queue.Job) error { return queue.Permanent(boom) }, "ERROR", "handler failed for good", "boom"},
		"snooze":    {func(context.Context, *queue.Job) error { return queue.Snooze(time.Hour) }, "INFO", "handler snoozed", "snoozed for 1h0m0s"},
		"panic":     {func(context.Context, *queue.Job) error { panic(boom) }, "ERROR", "handler panicked", nil},
	} {
		var out bytes.Buffer
		logged := Logging(slog.New(slog.NewJSONHandler(&out, nil)))(c.do)
		got := func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = v.(error)
				}
			}()
			return logged(context.Background(), &queue.Job{ID: 7, Queue: "q", Kind: "k", Attempts: 2})
		}()
		if (got == nil) != (name == "nil") {
			t.Errorf("%s: it passes %v on", name, got)
		}
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%s: not one line: %q", name, out.String())
		}
		if line["level"] != c.level || line["msg"] != c.msg || line["error"] != c.err {
			t.Errorf("%s: %s", name, out.String())
		}
		if line["job"] != 7.0 || line["queue"] != "q" || line["kind"] != "k" || line["attempt"] != 2.0 || line["took"] == nil {
			t.Errorf("%s: it does not name the attempt: %s", name, out.String())
		}
	}
}

func TestLoggingSaysWhyAHandlerWasCancelled(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrDrained)
	h := Logging(slog.New(slog.NewTextHandler(&out, nil)))(func(ctx context.Context, _ *queue.Job) error { return ctx.Err() })
	if err := h(ctx, &queue.Job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it passes %v on", err)
	}
	if !bytes.Contains(out.Bytes(), []byte(`cause="worker drained"`)) {
		t.Errorf("it says %s", out.String())
	}
}
