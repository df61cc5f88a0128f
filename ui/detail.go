package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// detail is everything about one job: what it is, why it died, how each attempt
// ended, what it was to do. It opens over any tab.
type detail struct {
	panes
	pic *picture

	id      int64
	job     *queue.Job
	length  int // characters of the whole payload
	gone    bool
	err     error
	loading bool
	asked   time.Time // zero: ask at once
	signal  uint64
	laid    laid
}

func newDetail(id int64, p *picture) *detail {
	d := &detail{id: id, pic: p}
	d.all = []pane{&textPane{name: "HISTORY"}, &textPane{name: "PAYLOAD"}}
	d.all[0].Focus(true)
	return d
}

// Show takes a new picture.
func (d *detail) Show(p *picture) {
	d.pic = p
	d.panes.Show(p)
}

// Name is what the help calls it.
func (d *detail) Name() string { return "Job" }

// Stale has the job read again.
func (d *detail) Stale() { d.asked = time.Time{} }

// jobAgain is how old the picture of a job may be, when nothing says it changed.
const jobAgain = 2 * time.Second

// jobMsg is an answer.
type jobMsg struct {
	id     int64
	job    *queue.Job
	length int
	err    error
}

// Load returns the command that reads the job, again when it may have changed.
func (d *detail) Load(a *app) tea.Cmd {
	now, signal := a.now(), d.pic.state.Dead.Signal
	old := now.Sub(d.asked)
	if d.loading || d.gone || old < deadBetween || old < jobAgain && (d.err != nil || signal == d.signal) {
		return nil
	}
	d.loading, d.asked, d.signal = true, now, signal
	id := d.id
	return a.io(func(ctx context.Context) tea.Msg {
		job, length, err := a.cfg.Jobs.Preview(ctx, id, payloadCharacters)
		return jobMsg{id, job, length, err}
	})
}

// Took takes an answer; one about another job is too late.
func (d *detail) Took(m jobMsg) {
	if m.id != d.id {
		return
	}
	d.loading, d.err = false, m.err
	switch {
	case m.err == nil:
		d.job, d.length = m.job, m.length
	case errors.Is(m.err, queue.ErrNotFound):
		d.gone = true
	}
}

// Keys are what the detail's keys do.
func (d *detail) Keys(a *app) []action {
	id := strconv.FormatInt(d.id, 10)
	over := ""
	switch {
	case d.gone:
		over = "the job is gone"
	case d.job == nil:
		over = "not read yet"
	}
	redrive, cancel := actsOn(a, d.job, over)
	cancel.out = d.job != nil && d.job.Status != queue.Pending && d.job.Status != queue.Processing
	return []action{
		a.backKey(),
		redrive,
		cancel,
		key("y", "copy id", "copy the job's id to the clipboard (OSC 52)", func() tea.Cmd {
			a.say(okay, "copied "+id)
			return tea.SetClipboard(id)
		}),
	}
}

// View draws the job.
func (d *detail) View(w, h int) []string {
	t := d.pic.theme
	h0 := heading{name: fmt.Sprintf("JOB %d", d.id)}
	frame := t.boxed
	inner := w - 4
	if w < wideWidth {
		frame = t.ruled
		inner = w - 2
	}
	if d.job == nil {
		text := "reading…"
		if d.gone {
			text = "This job is gone: it was deleted, or never was."
		} else if d.err != nil {
			text = "not read: " + safe.Text(d.err.Error())
		}
		return frame(h0, []string{"", " " + t.dim.draw(text)}, w, h, true)
	}
	j := d.job
	h0.rest = safe.Text(kindOf(j.Queue, j.Kind))
	if d.gone {
		h0.note = "gone since"
	}
	facts := d.facts(inner)
	if len(facts) > h/2 {
		facts = facts[:h/2]
	}
	edges := 2
	if w < wideWidth {
		edges = 1
	}
	top := frame(h0, facts, w, len(facts)+edges, false)
	rest := h - len(top)
	history, payload := d.all[0].(*textPane), d.all[1].(*textPane)
	history.rest = strconv.Itoa(len(j.Errors))
	payload.rest = thousands(int64(d.length)) + " characters"
	payload.note = ""
	if d.length > payloadCharacters {
		payload.note = "the first " + thousands(payloadCharacters)
	}
	if w < wideWidth {
		d.lay(w-2, w-2)
		return append(top, d.stack(t, w, rest, []int{history.port.TotalLineCount(), payload.port.TotalLineCount()})...)
	}
	left := w / 2
	d.lay(left-4, w-left-4)
	return append(top, beside(
		d.column(t, left, []int{0}, []int{rest}),
		d.column(t, w-left, []int{1}, []int{rest}),
	)...)
}

// lay lays out the two texts for these widths, unless they are as they were.
func (d *detail) lay(historyW, payloadW int) {
	next := laid{d.job, d.pic.theme, d.pic.now, historyW, payloadW}
	if d.laid == next {
		return
	}
	d.all[0].(*textPane).SetLines(timeline(d.job, d.pic, historyW))
	if next.now = d.laid.now; d.laid != next { // the payload has no ages in it
		d.all[1].(*textPane).SetLines(foldAll(pretty(string(d.job.Payload), d.pic.theme), payloadW))
	}
	d.laid = laid{d.job, d.pic.theme, d.pic.now, historyW, payloadW}
}

// laid is what a layout of a job depends on.
type laid struct {
	job                *queue.Job
	theme              *theme
	now                time.Time
	historyW, payloadW int
}

// fact is one thing to know of a job.
type fact struct {
	name, text string
	ink        ink
}

// cancelFact says who wanted the job cancelled, and what came of it.
func cancelFact(j *queue.Job, t *theme) fact {
	f := fact{"cancelled", "by " + j.CancelledBy, t.warn}
	switch {
	case j.Status == queue.Processing:
		f.text, f.ink = "asked by "+j.CancelledBy+": not ended yet", t.alarm
	case j.Status == queue.Completed:
		f.text = "asked by " + j.CancelledBy + ": completed all the same"
	case !j.Status.IsDeadLetter():
		f.text = "asked by " + j.CancelledBy
	}
	return f
}

// facts are the job's columns and its last error.
func (d *detail) facts(w int) []string {
	t, j, now := d.pic.theme, d.job, d.pic.now
	status := map[queue.Status]ink{queue.Dead: t.alarm, queue.Failed: t.warn, queue.Completed: t.good, queue.Processing: t.lead}[j.Status]
	when := func(x time.Time) string { return moment(x, now) + " · " + age(now.Sub(x)) + " ago" }
	facts := []fact{
		{"status", string(j.Status), status},
		{"attempts", strconv.Itoa(j.Attempts) + " of " + strconv.Itoa(j.MaxAttempts), t.text},
		{"created", when(j.CreatedAt), t.text},
	}
	switch {
	case j.DiedAt != nil:
		facts = append(facts, fact{"died", when(*j.DiedAt), t.text})
	case j.Status == queue.Processing && j.LeaseExpiresAt != nil:
		lease := fact{"lease", left(j.LeaseExpiresAt.Sub(now)), t.text}
		if over := now.Sub(*j.LeaseExpiresAt); over >= 0 {
			lease.text, lease.ink = lapsed(over, w), t.alarm
		}
		facts = append(facts, fact{"held by", d.pic.holder(j.LockedBy).name, t.accent}, lease)
	case j.Status == queue.Pending:
		facts = append(facts, fact{"due", due(j.RunAt, now), t.text})
	default:
		facts = append(facts, fact{"updated", when(j.UpdatedAt), t.text})
	}
	if j.CancelledBy != "" {
		facts = append(facts, cancelFact(j, t))
	}
	if j.IdempotencyKey != "" {
		facts = append(facts, fact{"key", j.IdempotencyKey, t.text})
	}
	const nameW = len("last error")
	columns := 1
	if w >= 76 {
		columns = 2
	}
	cellW := (w - columns*2) / columns
	var lines []string
	for i := 0; i < len(facts); i += columns {
		line := " "
		for k := i; k < min(i+columns, len(facts)); k++ {
			f := facts[k]
			line += t.dim.draw(safe.Fit(f.name, nameW)) + " " + f.ink.draw(safe.Fit(f.text, cellW-nameW-1)) + "  "
		}
		lines = append(lines, line)
	}
	if j.LastError != "" {
		lines = append(lines, "")
		text := wrap(j.LastError, w-nameW-1)
		if len(text) > 6 {
			text = append(text[:6], "…")
		}
		for i, line := range text {
			name := ""
			if i == 0 {
				name = pick(j.Status.IsDeadLetter(), "error", "last error")
			}
			lines = append(lines, " "+t.dim.draw(safe.Fit(name, nameW))+" "+t.bad.draw(line))
		}
	}
	return lines
}

// timeline tells how each attempt ended, newest first. An error that is the same
// as the one above it is not written twice.
func timeline(j *queue.Job, p *picture, w int) []string {
	t := p.theme
	if len(j.Errors) == 0 {
		return []string{t.dim.draw("no attempt has ended badly yet")}
	}
	var lines []string
	for i := len(j.Errors) - 1; i >= 0; i-- {
		one := j.Errors[i]
		glyph, k := "•", t.dim
		switch one.Outcome {
		case "retry":
			glyph, k = "↻", t.warn
		case "failed", "buried":
			glyph, k = "✗", t.bad
		case "lost":
			glyph, k = "!", t.warn
		case "cancelled":
			glyph, k = "⊘", t.other
		case "redriven":
			glyph, k = "↑", t.good
		}
		who := p.holder(one.Worker).name
		head := []piece{
			{glyph + " ", k},
			{safe.Text(one.Outcome), k},
			{"  attempt " + strconv.Itoa(one.Attempt), t.text},
			{"  " + moment(one.At, p.now) + " · " + age(p.now.Sub(one.At)) + " ago", t.dim},
		}
		if who != "" {
			head = append(head, piece{"  " + safe.Text(who), t.dim})
		}
		lines = append(lines, fold(head, w, 2)...)
		rail := t.faint.draw("│ ")
		if i == 0 {
			rail = "  "
		}
		switch {
		case one.Error == "":
		case i < len(j.Errors)-1 && one.Error == j.Errors[i+1].Error:
			lines = append(lines, rail+t.faint.draw("the same error"))
		default:
			for _, line := range wrap(one.Error, w-2) {
				lines = append(lines, rail+line)
			}
		}
		if i > 0 {
			lines = append(lines, t.faint.draw("│"))
		}
	}
	return lines
}

func foldAll(lines [][]piece, w int) []string {
	var out []string
	for _, line := range lines {
		indent := 0
		if len(line) > 0 {
			indent = safe.Width(line[0].text) + payloadIndent
		}
		out = append(out, fold(line, w, indent)...)
	}
	return out
}
