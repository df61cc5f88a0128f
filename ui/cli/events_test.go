package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/sift"
)

// log is a feed that keeps so many events.
type log struct {
	kept int

	mu      sync.Mutex
	state   watch.State
	events  []watch.Event
	changed chan struct{}
	asked   chan struct{} // a value for each question, as far as anybody takes them
}

func newLog(kept int) *log {
	l := &log{kept: kept, changed: make(chan struct{}), asked: make(chan struct{}, 1)}
	l.state.WAL.OK = true
	return l
}

var noon = time.Date(2026, 7, 1, 12, 4, 31, 204_567_000, time.FixedZone("", 7200))

func (l *log) add(events ...watch.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		l.state.Version++
		e.Seq, e.At = l.state.Version, noon
		l.events = append(l.events, e)
	}
	if over := len(l.events) - l.kept; over > 0 {
		l.events = l.events[over:]
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) State() *watch.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	return &s
}

func (l *log) Changed(version uint64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version < l.state.Version {
		done := make(chan struct{})
		close(done)
		return done
	}
	return l.changed
}

func (l *log) Events(seq uint64) ([]watch.Event, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.asked <- struct{}{}:
	default:
	}
	events := l.events
	for len(events) > 0 && events[0].Seq <= seq {
		events = events[1:]
	}
	return events, l.state.Version - seq - uint64(len(events))
}

// following prints a log into out until stop is called, which returns the error.
func following(t *testing.T, l *log, out io.Writer, remarks io.Writer, format Format, s sift.Sift) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Printer{Out: out, Err: remarks, Format: format}.follow(ctx, l, s) }()
	return func() error {
		cancel()
		return <-ended
	}
}

var life = []watch.Event{
	{Source: watch.FromWAL, What: watch.Enqueued, JobID: 88123, Count: 1, Queue: "emails", Kind: "send"},
	{Source: watch.FromWAL, What: watch.Claimed, JobID: 88123, Count: 1, Queue: "emails", Kind: "send", Owner: "shop1:4711:9f3c01aa/w3#12", Attempt: 1, Note: "attempt 1 of 5"},
	{Source: watch.FromWAL, What: watch.Health, Note: "WAL stream: terminating connection"},
	{Source: watch.Polled, What: watch.Enqueued, Count: 1000, Queue: "a\x1b[2J\nb", Note: "1,000 jobs"},
	{Source: watch.Polled, What: watch.CancelAsked, JobID: 1234567890, Count: 1, Queue: "emails", Owner: "\u202enode", Note: "by <ann>"},
}

func TestEventsAreRowsOrObjects(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{
		Table: `AT                        SOURCE  WHAT               JOB  QUEUE/KIND            WORKER        NOTE
2026-07-01T10:04:31.204Z  wal     enqueued         88123  emails/send
2026-07-01T10:04:31.204Z  wal     claimed          88123  emails/send           w3@shop1      attempt 1 of 5
2026-07-01T10:04:31.204Z  poll    enqueued         ×1000  a␛[2J␊b                             1,000 jobs
2026-07-01T10:04:31.204Z  poll    cancel asked  1234567890  emails                ‹U+202E›node  by <ann>
2026-07-01T10:04:31.204Z  poll    enqueued           ×1000  a␛[2J␊b                             1,000 jobs
leasetop: 2026-07-01T10:04:31.204Z WAL stream: terminating connection
`,
		JSON: `{"seq":2,"at":"2026-07-01T10:04:31.204567Z","source":"wal","what":"enqueued","job_id":88123,"count":1,"queue":"emails","kind":"send","owner":"","attempt":0,"note":""}
{"seq":3,"at":"2026-07-01T10:04:31.204567Z","source":"wal","what":"claimed","job_id":88123,"count":1,"queue":"emails","kind":"send","owner":"shop1:4711:9f3c01aa/w3#12","attempt":1,"note":"attempt 1 of 5"}
{"seq":4,"at":"2026-07-01T10:04:31.204567Z","source":"wal","what":"health","job_id":null,"count":0,"queue":"","kind":"","owner":"","attempt":0,"note":"WAL stream: terminating connection"}
{"seq":5,"at":"2026-07-01T10:04:31.204567Z","source":"poll","what":"enqueued","job_id":null,"count":1000,"queue":"a\u001b[2J\nb","kind":"","owner":"","attempt":0,"note":"1,000 jobs"}
{"seq":6,"at":"2026-07-01T10:04:31.204567Z","source":"poll","what":"cancel asked","job_id":1234567890,"count":1,"queue":"emails","kind":"","owner":"\u202enode","attempt":0,"note":"by <ann>"}
{"seq":7,"at":"2026-07-01T10:04:31.204567Z","source":"poll","what":"enqueued","job_id":null,"count":1000,"queue":"a\u001b[2J\nb","kind":"","owner":"","attempt":0,"note":"1,000 jobs"}
`,
	} {
		l := newLog(100)
		l.add(append(life, life[3])...)
		var out, remarks bytes.Buffer
		if err := following(t, l, &out, &remarks, format, sift.Sift{})(); err != nil {
			t.Error(err)
		}
		// The first remark is of now: from here on events are seen.
		first, rest, _ := strings.Cut(out.String(), "\n")
		if format == Table {
			rest = first + "\n" + rest
			first, _, _ = strings.Cut(remarks.String(), "\n")
			rest += strings.TrimPrefix(remarks.String(), first+"\n")
		}
		if !strings.Contains(first, "following the write-ahead log") {
			t.Errorf("%s begins with %s", format, first)
		}
		if rest != want {
			t.Errorf("%s is\n%s, want\n%s", format, rest, want)
		}
	}
}

// What is chosen leaves out other events, but never what the feed met and what was missed.
func TestChosenEventsStillTellOfTheFeed(t *testing.T) {
	t.Parallel()
	l := newLog(len(life))
	l.add(life...)
	l.add(life...)
	var out bytes.Buffer
	if err := following(t, l, &out, io.Discard, JSON, sift.Sift{Jobs: []int64{88123}, Whats: []string{"claimed"}})(); err != nil {
		t.Error(err)
	}
	var whats []string
	for scan := json.NewDecoder(&out); scan.More(); {
		var e struct {
			What         string
			Seq, Count   uint64
			Note, Source string
		}
		if err := scan.Decode(&e); err != nil {
			t.Fatal(err)
		}
		whats = append(whats, e.What)
		if e.What == missed && (e.Count != 5 || e.Seq != 6) {
			t.Errorf("missed %d up to %d, want 5 up to 6", e.Count, e.Seq)
		}
	}
	if got := strings.Join(whats, " "); got != "health missed claimed health" {
		t.Errorf("told %q", got)
	}
}

// A reader who does not read holds up the printing and nothing else; what it missed
// is told when it reads again.
func TestSlowReaderMissesEventsAndIsTold(t *testing.T) {
	t.Parallel()
	l := newLog(10)
	read, write := io.Pipe()
	stop := following(t, l, write, io.Discard, JSON, sift.Sift{})
	lines := bufio.NewScanner(read)
	lines.Scan() // that it follows
	if first := `{"seq":1,`; !strings.HasPrefix(lines.Text(), first) {
		t.Errorf("the first line is %s, want %s", lines.Text(), first)
	}
	for range 100 {
		l.add(life[0])
	}
	missing, last := uint64(0), uint64(1)
	for lines.Scan() {
		var e struct {
			What       string
			Seq, Count uint64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.What == missed:
			missing += e.Count
			if e.Seq != last+e.Count {
				t.Fatalf("missed %d up to %d, after %d", e.Count, e.Seq, last)
			}
		case e.Seq != last+1:
			t.Fatalf("%d follows %d, and nothing is said to be missed", e.Seq, last)
		}
		if last = e.Seq; last == l.State().Version {
			break
		}
	}
	if missing == 0 {
		t.Error("nothing was missed")
	}
	go io.Copy(io.Discard, read)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestFollowingEndsThoughNobodyReads(t *testing.T) {
	t.Parallel()
	l := newLog(10)
	_, write := io.Pipe()
	stop := following(t, l, write, io.Discard, JSON, sift.Sift{})
	l.add(life...)
	if err := stop(); err != nil { // a test that hangs here has failed
		t.Error(err)
	}
}

// Nothing happens, so nothing is written; it is found out all the same.
func TestFollowingEndsWhenItsReaderHasGone(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	l := newLog(10)
	l.state = watch.State{} // nor is it known yet how events are seen
	ended := make(chan error, 1)
	go func() {
		ended <- Printer{Out: write, Err: io.Discard, Format: JSON}.follow(t.Context(), l, sift.Sift{})
	}()
	<-l.asked
	read.Close()
	if err := <-ended; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("ended with %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestEventsThatCannotBeWrittenAreAnError(t *testing.T) {
	t.Parallel()
	l := newLog(10)
	l.add(life...)
	if err := following(t, l, full{}, io.Discard, Table, sift.Sift{})(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("ended with %v", err)
	}
}

// From when on events are seen is told once it is known how they are.
func TestFollowingBeginsWithTheStreamOrWithoutOne(t *testing.T) {
	t.Parallel()
	up, attaching, refused := watch.Link{OK: true}, watch.Link{Attaching: true, Reason: "reading the table"}, watch.Link{Reason: "wal_level is replica"}
	for _, c := range []struct {
		wal, polling watch.Link
		want         string
	}{
		{attaching, attaching, ""},
		{attaching, up, ""},
		{refused, attaching, ""},
		{refused, up, "following by polls: "},
		{up, up, "following the write-ahead log"},
		{up, refused, "following the write-ahead log"},
	} {
		note, ok := beginning(&watch.State{WAL: c.wal, Polling: c.polling})
		if !strings.HasPrefix(note, c.want) || ok != (c.want != "") {
			t.Errorf("stream %+v, poll %+v: %q, %v", c.wal, c.polling, note, ok)
		}
	}
}
