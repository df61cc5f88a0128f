package cli

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/ui/sift"
)

// missed is the what of a line, as JSON, that tells how many events are left out.
const missed = "missed"

// eventLine is one event as JSON.
type eventLine struct {
	Seq     uint64       `json:"seq"`
	At      string       `json:"at"` // the database's clock
	Source  watch.Source `json:"source"`
	What    watch.What   `json:"what"`
	JobID   *int64       `json:"job_id"` // null when it is about no single job
	Count   uint64       `json:"count"`
	Queue   string       `json:"queue"`
	Kind    string       `json:"kind"`
	Owner   string       `json:"owner"`
	Attempt int          `json:"attempt"`
	Note    string       `json:"note"`
}

func (p *eventPrinter) asLine(e *watch.Event) eventLine {
	l := eventLine{
		Seq: p.number(e.Seq), At: micros(e.At), Source: e.Source, What: e.What, Count: uint64(e.Count),
		Queue: e.Queue, Kind: e.Kind, Owner: e.Owner, Attempt: e.Attempt, Note: e.Note,
	}
	if e.JobID != 0 {
		l.JobID = &e.JobID
	}
	return l
}

func micros(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// eventPrinter prints events as they come.
type eventPrinter struct {
	*teller
	p    Printer
	sift sift.Sift
	out  *bufio.Writer
	rows flowing
	seen uint64    // the number of the last event that there was
	at   time.Time // and its time
	// extra is 1 once the line that says how events are followed is printed. It is no event
	// of the feed's, and has a number of its own.
	extra uint64
}

// number is the number that an event is printed with. The first line has 1.
func (e *eventPrinter) number(seq uint64) uint64 { return seq + e.extra }

func newEventPrinter(p Printer, hurry <-chan struct{}, s sift.Sift) *eventPrinter {
	out := bufio.NewWriter(p.Out)
	return &eventPrinter{teller: newTeller(hurry), p: p, sift: s, out: out, rows: flowing{w: out, columns: eventColumns}}
}

// eventColumns have the widths that most events need; a longer one makes room for those
// that follow, too.
var eventColumns = []column{
	{title: "AT", least: len("2026-03-01T12:00:01.204Z")},
	{title: "SOURCE"},
	{title: "WHAT", least: len("cancel asked")},
	{title: "JOB", least: 8, most: 20, right: true},
	{title: "QUEUE/KIND", least: 20, most: 60, holds: names},
	{title: "WORKER", least: 12, most: 40, holds: names},
	{title: "NOTE", most: 400},
}

// header prints the titles of a table.
func (e *eventPrinter) header() {
	if e.p.Format == JSON {
		return
	}
	e.tell(func() {
		_ = e.rows.header()
		_ = e.out.Flush() // an error stays in the buffer, for the next
	})
}

// begin tells that events are seen from here on.
func (e *eventPrinter) begin(s *watch.State, note string) {
	source := watch.Polled
	if s.WAL.OK {
		source = watch.FromWAL
	}
	e.extra = 1
	health := watch.Event{Seq: e.seen, At: s.Clock.Now(time.Now()), Source: source, What: watch.Health, Note: note}
	e.tell(func() {
		e.health(&health)
		_ = e.out.Flush()
	})
}

// print prints those of the events that are chosen, and how many others there were
// before them.
func (e *eventPrinter) print(events []watch.Event, left uint64) error {
	if left == 0 && len(events) == 0 {
		return nil
	}
	seen, at := e.seen+left, e.at
	if len(events) > 0 {
		at = events[0].At
	}
	done := make(chan error, 1)
	e.tell(func() {
		if left > 0 {
			e.left(seen, at, left)
		}
		for i := range events {
			e.event(&events[i])
		}
		done <- e.out.Flush()
	})
	e.seen = seen
	if n := len(events); n > 0 {
		e.seen, e.at = events[n-1].Seq, events[n-1].At
	}
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("print events: %w", err)
		}
	default: // the end has come, and whoever reads does not
	}
	return nil
}

// event prints one event. Errors of the buffer stay with it, for Flush.
func (e *eventPrinter) event(one *watch.Event) {
	if one.What == watch.Health {
		e.health(one)
		return
	}
	if thing := sift.Of(one); !e.sift.Lets(&thing) {
		return
	}
	if e.p.Format == JSON {
		_ = line(e.out, e.asLine(one))
		return
	}
	job := ""
	switch {
	case one.JobID != 0:
		job = strconv.FormatInt(one.JobID, 10)
	case one.Count > 0:
		job = "×" + strconv.Itoa(one.Count)
	}
	work := one.Queue
	if one.Kind != "" {
		work += "/" + one.Kind
	}
	_ = e.rows.row([]string{stamp(one.At), string(one.Source), string(one.What), job, work, whose(one.Owner), one.Note})
}

// health tells what the feed itself met, whatever is chosen: what is printed after it
// has to be read differently.
func (e *eventPrinter) health(one *watch.Event) {
	if e.p.Format == JSON {
		_ = line(e.out, e.asLine(one))
		return
	}
	e.remark(one.At, one.Note)
}

// left tells how many events are not told, which ones nobody knows.
func (e *eventPrinter) left(seq uint64, at time.Time, n uint64) {
	note := fmt.Sprintf("%d events came faster than they were read and are left out", n)
	if e.p.Format == JSON {
		_ = line(e.out, eventLine{Seq: e.number(seq), At: micros(at), What: missed, Count: n, Note: note})
		return
	}
	e.remark(at, note)
}

func (e *eventPrinter) remark(at time.Time, text string) {
	_ = e.out.Flush() // in their order, where both go to one terminal; the error stays
	fmt.Fprintf(e.p.Err, "leasetop: %s %s\n", stamp(at), safe.Text(veiled(text)))
}

// whose names the owner of a lease: worker and host, or whatever a foreign worker wrote.
func whose(owner string) string {
	token, ok := queue.ParseToken(owner)
	if !ok {
		return owner
	}
	host, _, _ := strings.Cut(token.Process, ":")
	return token.Worker + "@" + host
}
