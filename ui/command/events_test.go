package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// told is a line of `events -o json`.
type told struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Source  string    `json:"source"`
	What    string    `json:"what"`
	JobID   *int64    `json:"job_id"`
	Count   int       `json:"count"`
	Queue   string    `json:"queue"`
	Kind    string    `json:"kind"`
	Owner   string    `json:"owner"`
	Attempt int       `json:"attempt"`
	Note    string    `json:"note"`
}

func toldBy(t *testing.T, lines string) (events []told) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var e told
		read := json.NewDecoder(strings.NewReader(line))
		read.DisallowUnknownFields()
		if err := read.Decode(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// The life of two jobs is told in its order; the stream's end in the middle is told too,
// then polls go on, until it is back.
func TestEventsFollowThroughTheLossOfTheStream(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "wal_level=logical"))
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	somebody, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer somebody.Close(context.Background())
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	exec := func(sql string) {
		t.Helper()
		_, err := somebody.Exec(t.Context(), sql)
		do(err)
	}
	enqueue := func() {
		t.Helper()
		_, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "e\x1b[2Jmails", Kind: "send"})
		do(err)
	}
	owner := queue.Token{Process: "shop1:4711:9f3c01aa", Worker: "w3", Claim: 1}.String()
	claim := func() queue.Job {
		t.Helper()
		jobs, err := q.Claim(t.Context(), queue.ClaimRequest{Queue: "e\x1b[2Jmails", Owner: owner, Lease: time.Minute, Limit: 1})
		do(err)
		return jobs[0]
	}

	all := startWith(t, []string{"events", "--follow", "-o", "json"}, "DATABASE_URL="+url)
	rows := startWith(t, []string{"events", "--follow", "--what", "claimed", "--worker", "w3"}, "DATABASE_URL="+url)
	all.until("following the write-ahead log")
	rows.until("^AT  +SOURCE  WHAT  ")
	rows.complains("following the write-ahead log")

	enqueue()
	first := claim()
	do(q.Complete(t.Context(), first.Lease()))
	all.until(`"completed"`)
	rows.until(`Z  wal +claimed +1  e␛\[2Jmails/send +w3@shop1 +attempt 1 of `)

	exec("BEGIN; SELECT pg_current_xact_id()") // a new slot waits for whoever writes
	exec("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
	all.until(`"source":"wal","what":"health".*"WAL stream: `)
	rows.complains("WAL stream: ")
	// A poll tells what has changed since the one before: the first has nothing to tell.
	var polled queue.Job
	for seen := ""; seen == ""; {
		enqueue()
		polled = claim()
		seen = all.within(time.Second, fmt.Sprintf(`"source":"poll","what":"claimed","job_id":%d,`, polled.ID))
	}
	// The other follower may have begun to poll after that claim.
	for rows.within(time.Second, `Z  poll +claimed +\d+  `) == "" {
		enqueue()
		polled = claim()
	}
	exec("ROLLBACK")
	all.until(`"what":"health".*"WAL stream: works again, after `)
	rows.complains("WAL stream: works again")
	do(q.Complete(t.Context(), polled.Lease()))
	all.until(`"source":"wal","what":"completed"`)

	for signal, p := range map[syscall.Signal]*program{syscall.SIGTERM: all, syscall.SIGINT: rows} {
		if status := p.end(signal); status != 0 {
			t.Errorf("%v ended it with status %d: %s", signal, status, p.err.String())
		}
	}
	if strings.ContainsRune(rows.seen.String()+rows.err.String(), 0x1b) {
		t.Errorf("an escape code was printed:\n%q", rows.seen.String())
	}
	if strings.Contains(rows.seen.String(), "completed") || all.err.String() != "" {
		t.Errorf("what was not chosen is printed, or something is complained of:\n%s\n%s", rows.seen.String(), all.err.String())
	}
	var story []string
	last := uint64(0)
	for _, e := range toldBy(t, all.seen.String()) {
		if e.Seq < last || e.At.IsZero() || e.At.Location() != time.UTC {
			t.Errorf("%+v follows the event %d", e, last)
		}
		last = e.Seq
		if e.What == "health" || e.What == "renewed" {
			continue
		}
		if e.Queue != "e\x1b[2Jmails" || e.Kind != "send" || e.Count != 1 || e.What != "enqueued" && e.Owner != owner {
			t.Errorf("not the true values: %+v", e)
		}
		story = append(story, fmt.Sprintf("%s %s %d", e.Source, e.What, *e.JobID))
	}
	want := []string{"wal enqueued 1", "wal claimed 1", "wal completed 1"}
	for id := range polled.ID + 1 {
		if told := fmt.Sprintf("poll claimed %d", id); slices.Contains(story, told) {
			want = append(want, told)
		}
	}
	if want = append(want, fmt.Sprintf("wal completed %d", polled.ID)); !slices.Equal(story, want) {
		t.Errorf("told %q, want %q", story, want)
	}
}

// complaints are what a program says on standard error.
type complaints struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed by the next
}

func (c *complaints) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more != nil {
		close(c.more)
		c.more = nil
	}
	return c.text.Write(text)
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// next is closed by the next complaint.
func (c *complaints) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more == nil {
		c.more = make(chan struct{})
	}
	return c.more
}

// complains waits for a text on standard error.
func (p *program) complains(text string) {
	p.t.Helper()
	for timeout := time.After(time.Minute); ; {
		next := p.err.next()
		if strings.Contains(p.err.String(), text) {
			return
		}
		select {
		case <-next:
		case <-timeout:
			p.t.Fatalf("standard error does not say %q:\n%s", text, p.err.String())
		}
	}
}
