package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/child"
)

// workLog tells what the workers do:
//
//	2026-03-01T12:00:01.204Z work  42 emails/send w1 completed in 0.311s, attempt 1 of 5
//	2026-03-01T12:00:01.518Z err   43 connection reset by peer
//	2026-03-01T12:00:01.520Z work  43 emails/send w2 to be retried in 1m53s, ran for 0.310s, attempt 1 of 5: exit status 1: connection reset by peer
//
// Times are this machine's, in UTC. The second word is work, reap (expired leases of
// whomever), or the stream of a child that printed the line. As JSON each line but
// the children's is an object on standard output.
type workLog struct {
	*teller
	p      Printer
	unread func() // called when nobody reads standard output any more
	began  time.Time

	mu                                           sync.Mutex
	err                                          error // of standard output
	cutOff                                       bool  // it came before the end had begun: it is the reason for it
	draining                                     bool
	completed, retried, gaveBack, failed, buried int
}

func newWorkLog(p Printer, hurry <-chan struct{}, unread func()) *workLog {
	return &workLog{teller: newTeller(hurry), p: p, unread: unread, began: time.Now()}
}

const (
	fromWork = "work"
	fromReap = "reap"
)

// say prints one line: e as JSON, or text.
func (l *workLog) say(at time.Time, source, text string, e workEvent) {
	if l.p.Format != JSON {
		l.text(at, source, veiled(text))
		return
	}
	e.At = stamp(at)
	l.tell(func() {
		if l.broken() == nil {
			l.broke(line(l.p.Out, e))
		}
	})
}

// broke notes that standard output takes no more, which ends the work.
func (l *workLog) broke(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	l.err = err
	select {
	case <-l.hurry:
	default:
		l.cutOff = true
	}
	l.mu.Unlock()
	l.unread()
}

// broken says why standard output takes no more. For other commands a reader who has had
// enough is no failure. This one's output is not what it is for: that it stopped working
// must not pass for a success.
func (l *workLog) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutOff && errors.Is(l.err, syscall.EPIPE) {
		return errors.New("nobody reads standard output any more, so the work was stopped: jobs may be waiting")
	}
	return l.err
}

// text prints a line for people. When nobody reads those any more, work goes on.
func (l *workLog) text(at time.Time, source, text string) {
	written := fmt.Sprintf("%s %-5s %s\n", stamp(at), source, safe.Text(text))
	l.tell(func() { _, _ = l.p.Err.Write([]byte(written)) })
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// begin tells what is about to be done.
func (l *workLog) begin(o WorkOptions, paused []queue.Pause) {
	by := "the demonstration's handlers"
	if len(o.Exec) > 0 {
		by = strings.Join(o.Exec, " ")
	}
	now := time.Now()
	l.say(now, fromWork, fmt.Sprintf("%s with %s on %s, leases of %v, each job by %s",
		counted(o.Workers, "worker"), counted(o.Slots, "slot"), strings.Join(o.Queues, ", then "), o.Lease, by),
		workEvent{Event: "started", Started: &started{
			Queues: o.Queues, Workers: o.Workers, Slots: o.Slots,
			LeaseSeconds: o.Lease.Seconds(), GraceSeconds: o.Grace.Seconds(), Exec: o.Exec,
		}})
	for _, pause := range paused {
		for _, name := range o.Queues {
			if name != pause.Queue {
				continue
			}
			text := fmt.Sprintf("paused by %s since %s", pause.By, clock(pause.Since))
			if pause.Why != "" {
				text += ": " + pause.Why
			}
			l.say(now, fromWork, fmt.Sprintf("queue %s is %s (`leasetop resume %[1]s` ends it)", name, text),
				workEvent{Event: "paused", Queue: name, Text: text})
		}
	}
}

// output passes on a line that a child printed.
func (l *workLog) output(job *queue.Job, from child.Stream, line string) {
	if l.stopped() { // a child that floods a reader who reads no more is killed in time
		return
	}
	l.text(time.Now(), string(from), fmt.Sprintf("%d ", job.ID)+safe.Block(line))
}

// unable tells that the program cannot be started, which no single job is to blame for.
func (l *workLog) unable(err error) {
	l.say(time.Now(), fromWork, err.Error()+"; the jobs are given back, and the slots rest, up to 30s, before each try",
		workEvent{Event: "cannot start", Error: err.Error()})
}

// errorShown is how much of an error's first line a line for people shows; the job
// has all of it.
const errorShown = 300

// settled tells how a job ended, once that is written.
func (l *workLog) settled(s workers.Settled) {
	event := l.count(s)
	e := workEvent{
		Event: event, ID: s.Job.ID, Queue: s.Job.Queue, Kind: &s.Job.Kind, Worker: s.Worker,
		Attempt: s.Job.Attempts, MaxAttempts: s.Job.MaxAttempts, Seconds: float64(s.Took.Milliseconds()) / 1000,
		DelaySecs: float64(s.Delay.Milliseconds()) / 1000,
	}
	work := s.Job.Queue
	if s.Job.Kind != "" {
		work += "/" + s.Job.Kind
	}
	text := fmt.Sprintf("%d %s %s %s, attempt %d of %d", e.ID, work, e.Worker, inTime(event, s), e.Attempt, e.MaxAttempts)
	if s.Err != nil && s.Status != queue.Completed && !s.GaveBack {
		e.Error = s.Err.Error()
		text += ": " + bounded(veiled(e.Error))
	}
	l.say(time.Now(), fromWork, text, e)
}

// inTime says how a job ended and how long it ran; of one that is tried again also when.
func inTime(event string, s workers.Settled) string {
	ran := fmt.Sprintf("%.3fs", s.Took.Seconds())
	if s.Status == queue.Completed {
		return event + " in " + ran
	}
	switch event {
	case "retried":
		event = "to be retried in " + rounded(s.Delay)
	case "snoozed":
		event = "snoozed for " + rounded(s.Delay)
	}
	return event + ", ran for " + ran
}

// rounded is a delay to the second, a short one to the millisecond.
func rounded(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func bounded(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if runes := []rune(first); len(runes) > errorShown {
		first, more = string(runes[:errorShown]), true
	}
	if more {
		first += " …"
	}
	return first
}

// count counts an outcome and names it.
func (l *workLog) count(s workers.Settled) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, snoozed := queue.IsSnooze(s.Err)
	switch {
	case s.Status == queue.Completed:
		l.completed++
	case s.Status == queue.Failed:
		l.failed++
	case s.Status == queue.Dead:
		l.buried++
	case snoozed:
		l.gaveBack++
		return "snoozed"
	case s.GaveBack:
		l.gaveBack++
		return "released"
	default:
		l.retried++
		return "retried"
	}
	return string(s.Status)
}

// follow tells the pool's events until it is over.
func (l *workLog) follow(pool *workers.Pool, over <-chan struct{}) {
	var seen uint64
	for ended := false; ; {
		changed := pool.Changed()
		var events []workers.Event
		events, seen = pool.Events(seen)
		for _, e := range events {
			l.event(e)
		}
		if ended {
			return
		}
		select {
		case <-changed:
		case <-over:
			ended = true
		}
	}
}

// event tells what happened beside the outcomes.
func (l *workLog) event(e workers.Event) {
	switch e.What {
	case workers.Spawned, workers.WorkerEnded:
		return // the first and the last line say as much
	case workers.DrainBegun:
		if !l.draining {
			l.draining = true
			l.say(e.At, fromWork, "draining: no new jobs; a second signal forces", workEvent{Event: "draining"})
		}
		return
	}
	var b strings.Builder
	if e.JobID != 0 {
		fmt.Fprintf(&b, "%d ", e.JobID)
	}
	for _, word := range []string{e.Queue, e.Worker} {
		if word != "" {
			b.WriteString(word + " ")
		}
	}
	b.WriteString(string(e.What))
	if e.Late > 0 {
		fmt.Fprintf(&b, ", %v after the lease ran out", e.Late.Round(time.Millisecond))
	}
	if e.Text != "" {
		text, _ := mask.Text(strings.Join(strings.Fields(e.Text), " ")) // the database's errors come in lines, with values of rows
		b.WriteString(": " + text)
	}
	source := fromWork
	if e.What == workers.ReapedBack || e.What == workers.ReapedDead {
		source = fromReap
	}
	l.say(e.At, source, b.String(), workEvent{
		Event: string(e.What), ID: e.JobID, Queue: e.Queue, Worker: e.Worker, Owner: e.Owner, Text: e.Text, Seconds: e.Late.Seconds(),
	})
}

// end sums up.
func (l *workLog) end(pool *workers.Pool) {
	l.mu.Lock()
	s := summary{Completed: l.completed, Retried: l.retried, Released: l.gaveBack, Failed: l.failed, Dead: l.buried}
	l.mu.Unlock()
	for _, w := range pool.Workers() {
		s.Claimed, s.Lost, s.Left = s.Claimed+w.Claimed, s.Lost+w.Lost, s.Left+w.Left
	}
	took := time.Since(l.began)
	l.say(time.Now(), fromWork, fmt.Sprintf("stopped after %v: claimed %d, completed %d, retried %d, released %d, failed %d, dead %d, leases lost %d, left %d",
		took.Round(time.Millisecond), s.Claimed, s.Completed, s.Retried, s.Released, s.Failed, s.Dead, s.Lost, s.Left),
		workEvent{Event: "stopped", Seconds: float64(took.Milliseconds()) / 1000, Summary: &s})
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
