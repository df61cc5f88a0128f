package plain

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// picture is a feed that stands still.
type picture struct{ state watch.State }

func (p *picture) State() *watch.State            { return &p.state }
func (p *picture) Changed(uint64) <-chan struct{} { return nil }

// crew are workers whose events have been.
type crew []workers.Event

func (c crew) Changed() <-chan struct{} { return nil }
func (c crew) Events(after uint64) ([]workers.Event, uint64) {
	return c[min(after, uint64(len(c))):], uint64(len(c))
}

// printed is what Run writes about a picture, up to the first line that matches.
func printed(t *testing.T, s watch.State, c Workers, last string) string {
	t.Helper()
	return printedWithin(t, s, c, nil, last)
}

// printedWithin is printed with limits.
func printedWithin(t *testing.T, s watch.State, c Workers, limits alert.Limits, last string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	out := &untilLine{want: regexp.MustCompile(last), found: cancel}
	if err := Run(ctx, &picture{s}, c, limits, out); err != nil {
		t.Fatal(err)
	}
	if context.Cause(ctx) != context.Canceled {
		t.Fatalf("no line like %q in:\n%s", last, out.String())
	}
	return out.String()
}

type untilLine struct {
	strings.Builder
	want  *regexp.Regexp
	found func()
}

func (u *untilLine) Write(text []byte) (int, error) {
	u.Builder.Write(text)
	if u.want.MatchString(u.String()) {
		u.found()
	}
	return len(text), nil
}

func TestEventsAndDepthsAreLines(t *testing.T) {
	t.Parallel()
	s := watch.State{
		Polling: watch.Link{OK: true},
		Depths: watch.Depths{Source: watch.Polled, Queues: []watch.QueueDepth{
			{QueueDepth: queue.QueueDepth{Queue: "emails", Ready: 4, Completed: 310, CompletedExact: true}},
			{QueueDepth: queue.QueueDepth{Queue: "images", Ready: 1000, Completed: 90, Dead: 1, AtLeast: queue.AtLeast{Ready: true}}},
		}},
		Events: []watch.Event{
			{Seq: 1, At: noon, Source: watch.FromWAL, JobID: 7, Queue: "emails", Kind: "send", What: watch.Claimed, Owner: "host:1:ab/w3#9", Note: "attempt 1 of 3"},
			{Seq: 2, At: noon, Source: watch.FromWAL, JobID: 7, Queue: "emails", What: watch.Renewed},
			{Seq: 5, At: noon, Source: watch.FromWAL, Count: 20, Queue: "emails", What: watch.Enqueued},
			{Seq: 6, At: noon, Source: watch.Notice, What: watch.Health, Note: "LISTEN connection lost"},
		},
	}
	events := crew{{At: noon, What: workers.ReapedBack, JobID: 8, Queue: "emails", Owner: "foreign", Late: 42 * time.Millisecond}}
	got := printed(t, s, events, "depth emails")
	for _, line := range []string{
		"2026-03-01T12:00:00.000Z reap  8 emails reclaimed, owner foreign, 42ms after the lease ran out\n",
		"2026-03-01T12:00:00.000Z wal   7 emails/send claimed w3@host, attempt 1 of 3\n",
		"2026-03-01T12:00:00.000Z wal   2 events came too fast to be listed\n" +
			"2026-03-01T12:00:00.000Z wal   20 jobs emails enqueued\n",
		"2026-03-01T12:00:00.000Z notify LISTEN connection lost\n",
		"Z depth emails: ready 4, scheduled 0, processing 0, completed 310, failed 0, dead 0" +
			" | images: ready 1000+, scheduled 0, processing 0, completed ~90, failed 0, dead 1 (polled)\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
	if strings.Contains(got, "renewed") {
		t.Errorf("a heartbeat is listed:\n%s", got)
	}
}

func TestWhatNobodyKnowsIsSaidWithItsReason(t *testing.T) {
	t.Parallel()
	s := watch.State{Polling: watch.Link{Reason: "connection refused"}}
	if got := printed(t, s, nil, "depth"); !strings.HasSuffix(got, "depth not known: connection refused\n") {
		t.Errorf("printed %q", got)
	}
}

// Whatever the database holds, a line is a line and holds no escape code.
func TestHostileTextStaysOnItsLine(t *testing.T) {
	t.Parallel()
	bad := "a\x1b]52;c;eA\x07\r\n\u202eb\u009b"
	s := watch.State{Events: []watch.Event{{Seq: 1, JobID: 1, Queue: bad, Kind: bad, What: watch.Claimed, Owner: bad, Note: bad}}}
	got := printed(t, s, crew{{What: workers.DBTrouble, Text: bad}}, "claimed")
	if strings.ContainsAny(got, "\x1b\x07\r\u202e\u009b") || strings.Count(got, "\n") != 2 {
		t.Errorf("printed %q", got)
	}
}

func TestClosedOutputEndsIt(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	r.Close()
	err := Run(t.Context(), &picture{watch.State{Polling: watch.Link{Reason: "down"}}}, nil, nil, w)
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run returned %v", err)
	}
}

func TestLostDiscardedAndRestoredAreTold(t *testing.T) {
	t.Parallel()
	text := printed(t, watch.State{Events: []watch.Event{
		{Seq: 1, At: noon, Source: watch.FromWAL, What: watch.Lost, JobID: 5, Count: 1, Queue: "emails", Owner: "shop1:4711:9f3c01aa/w3#12", Note: "taken over"},
		{Seq: 2, At: noon, Source: watch.FromWAL, What: watch.Discarded, JobID: 5, Count: 1, Queue: "emails", Note: "by ann"},
		{Seq: 3, At: noon, Source: watch.FromWAL, What: watch.Restored, Count: 30, Queue: "emails", Note: "30 jobs"},
	}}, nil, "restored")
	want := `2026-03-01T12:00:00.000Z wal   5 emails lease lost by w3@shop1, taken over
2026-03-01T12:00:00.000Z wal   5 emails discarded, by ann
2026-03-01T12:00:00.000Z wal   30 jobs emails restored, 30 jobs
`
	if text != want {
		t.Errorf("printed\n%swant\n%s", text, want)
	}
}
