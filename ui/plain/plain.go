// Package plain is leasetop without a terminal: what the dashboard shows moving,
// as lines of plain text. Each event is a line, and every two seconds a line says
// how deep the queues are:
//
//	2026-03-01T12:00:01.204Z wal  88123 emails/send_receipt claimed w3@laptop, attempt 1 of 3
//	2026-03-01T12:00:02.000Z depth emails: ready 4, scheduled 1, processing 2, completed 310, failed 0, dead 1
//
// Times are the database's, in UTC. Depths that do not come from the stream of changes, and
// so may be bounds (4+) and estimates (~310), end in "(polled)", and those that are not of the
// present in their age. A limit that is passed is a line:
//
//	2026-03-01T12:00:04.000Z alert 11 dead letters, more than 10
//
// No line holds an escape code, whatever the database holds. Heartbeats
// are left out.
package plain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// depthEvery is how often the depth line comes.
const depthEvery = 2 * time.Second

// Feed is the live picture; *watch.Feed is one.
type Feed interface {
	State() *watch.State
	Changed(version uint64) <-chan struct{}
}

// Workers are the workers of this process; *workers.Pool is.
type Workers interface {
	Events(after uint64) (events []workers.Event, last uint64)
	Changed() <-chan struct{}
}

// Run prints until ctx ends, which is no error, or out takes no more. crew is nil
// when this process has no workers. Where a limit is passed, that is a line, and so is when
// it is kept again for long enough, or when neither can be told.
func Run(ctx context.Context, feed Feed, crew Workers, limits alert.Limits, out io.Writer) error {
	p := &printer{out: bufio.NewWriter(out), alarm: alert.Alarm{Limits: limits}}
	tick := time.NewTicker(depthEvery)
	defer tick.Stop()
	depthDue := true
	for {
		var crewChanged <-chan struct{}
		if crew != nil {
			crewChanged = crew.Changed()
			p.crew(crew, feed.State().Clock)
		}
		state := feed.State()
		p.events(state.Events)
		if depthDue && known(state) {
			p.depth(state, time.Now())
			depthDue = false
		}
		p.alerts(state, time.Now())
		if err := p.out.Flush(); err != nil {
			return fmt.Errorf("plain mode: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-feed.Changed(state.Version):
		case <-crewChanged:
		case <-tick.C:
			depthDue = true
		}
	}
}

type printer struct {
	out      *bufio.Writer
	seen     uint64 // the last of the feed's events
	seenCrew uint64 // and of the workers'
	twice    twice
	alarm    alert.Alarm
	doubted  map[alert.Measure]bool // what was told that it cannot be told
}

func (p *printer) line(at time.Time, source, text string) {
	fmt.Fprintf(p.out, "%s %-5s %s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), source, safe.Text(text))
}

// events prints those of the feed that are new.
func (p *printer) events(events []watch.Event) {
	for _, e := range events {
		if e.Seq <= p.seen {
			continue
		}
		if missed := e.Seq - p.seen - 1; missed > 0 && p.seen > 0 {
			p.line(e.At, string(e.Source), fmt.Sprintf("%d events came too fast to be listed", missed))
		}
		p.seen = e.Seq
		if e.What == watch.Renewed || p.twice.again(telling{e.JobID, ofFeed(e), e.At, true}) {
			continue
		}
		p.line(e.At, string(e.Source), tell(e))
	}
}

// tell puts an event of the feed in words.
func tell(e watch.Event) string {
	if e.What == watch.Health {
		return e.Note
	}
	var b strings.Builder
	switch {
	case e.JobID != 0:
		fmt.Fprintf(&b, "%d ", e.JobID)
	case e.Count > 0:
		fmt.Fprintf(&b, "%d jobs ", e.Count)
	}
	b.WriteString(work(e.Queue, e.Kind))
	if e.What == watch.Lost {
		b.WriteString("lease lost by")
	} else {
		b.WriteString(string(e.What))
	}
	if e.Owner != "" {
		b.WriteString(" " + who(e.Owner))
	}
	if e.Note != "" {
		b.WriteString(", " + e.Note)
	}
	return b.String()
}

// crew prints the workers' events that are new, on the database's clock.
func (p *printer) crew(crew Workers, clock watch.Clock) {
	events, last := crew.Events(p.seenCrew)
	p.seenCrew = last
	for _, e := range events {
		at := clock.Now(e.At)
		if p.twice.again(telling{e.JobID, ofCrew(e), at, false}) {
			continue
		}
		source := "work"
		if e.Worker == "" {
			source = "reap"
		}
		p.line(at, source, tellCrew(e))
	}
}

// tellCrew puts a worker's event in words.
func tellCrew(e workers.Event) string {
	var b strings.Builder
	if e.JobID != 0 {
		fmt.Fprintf(&b, "%d ", e.JobID)
	}
	b.WriteString(work(e.Queue, ""))
	if e.Worker != "" {
		b.WriteString(e.Worker + " ")
	}
	b.WriteString(string(e.What))
	if e.Owner != "" {
		b.WriteString(", owner " + who(e.Owner))
	}
	if e.Late > 0 {
		fmt.Fprintf(&b, ", %v after the lease ran out", e.Late.Round(time.Millisecond))
	}
	if e.Text != "" {
		b.WriteString(", " + e.Text)
	}
	return b.String()
}

// work names what kind of job it is.
func work(queueName, kind string) string {
	switch {
	case queueName == "":
		return ""
	case kind == "":
		return queueName + " "
	}
	return queueName + "/" + kind + " "
}

// who names the owner of a lease: worker and host, or whatever a foreign worker wrote.
func who(owner string) string {
	t, ok := queue.ParseToken(owner)
	if !ok {
		return owner
	}
	host, _, _ := strings.Cut(t.Process, ":")
	return t.Worker + "@" + host
}
