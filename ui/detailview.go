package ui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

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
	switch {
	case d.gone:
		h0.note, h0.must = "gone since", "gone"
	case d.revealed && d.masked > 0:
		h0.note, h0.must = plural(d.masked, "secret")+" shown · X hides", "secrets shown"
	case d.masked > 0:
		h0.note, h0.must = plural(d.masked, "secret")+" masked · X reveals", "masked"
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
	history, payload := d.history(), d.body()
	history.rest = strconv.Itoa(len(j.Errors))
	payload.rest, payload.note, payload.must = d.payloadHeading()
	if w < wideWidth {
		d.lay(w-2, w-2)
		return append(top, d.stack(t, w, rest, []int{len(history.rows), len(payload.rows)})...)
	}
	left := w / 2
	d.lay(left-4, w-left-4)
	history.height, payload.height = rest-2, rest-2 // the headings say how much is below
	return append(top, beside(
		d.column(t, left, []int{0}, []int{rest}),
		d.column(t, w-left, []int{1}, []int{rest}),
	)...)
}

// payloadHeading says which payload this is, and how much of it is shown.
func (d *detail) payloadHeading() (rest, note, must string) {
	if d.original > 0 {
		note, must = d.originalNote()
		return "as it was", note, must
	}
	rest = thousands(int64(d.length)) + " characters"
	switch n := d.edits(); {
	case d.length > payloadCharacters:
		note = "the first " + thousands(payloadCharacters)
	case d.folds.level > 0:
		note = "folded to " + plural(d.folds.level, "level")
	case n > 0:
		note = "edited " + times(n) + " · o originals"
	}
	return rest, note, ""
}

// lay lays out the two texts for these widths, unless they are as they were.
func (d *detail) lay(historyW, payloadW int) {
	next := laid{d.layout, d.pic.now, historyW, payloadW}
	if d.laid == next {
		return
	}
	d.history().SetRows(timeline(d.past, d.job != nil && d.job.Status.IsDeadLetter(), d.pic, d.opened, historyW))
	if next.now = d.laid.now; d.laid != next { // the payload has no ages in it
		d.body().SetRows(payloadRows(d.payload, &d.folds, d.pic.theme, payloadW))
	}
	d.laid = laid{d.layout, d.pic.now, historyW, payloadW}
}

// laid is what a layout of a job depends on.
type laid struct {
	layout             int
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

// columnsOf are the job's columns.
func (d *detail) columnsOf(w int) []fact {
	t, j, now := d.pic.theme, d.job, d.pic.now
	status := map[queue.Status]ink{queue.Dead: t.alarm, queue.Failed: t.warn, queue.Completed: t.good, queue.Processing: t.lead}[j.Status]
	when := func(x time.Time) string { return momentAgo(x, now) }
	facts := []fact{
		{"status", string(j.Status), status},
		{"attempts", strconv.Itoa(j.Attempts) + " of " + strconv.Itoa(j.MaxAttempts), t.text},
		{"created", when(j.CreatedAt), t.text},
	}
	switch {
	case j.DiedAt != nil:
		facts = append(facts, fact{"died", when(*j.DiedAt), t.text})
	case j.Status == queue.Processing && d.gone: // and its lease with it
		facts = append(facts, fact{"held by", d.pic.holder(j.LockedBy).name + ", until it was gone", t.dim})
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
	return facts
}

// factName is how wide the names of facts are.
const factName = len("last error")

// facts are the job's columns, why it waits or could not come back, and its last error.
func (d *detail) facts(w int) []string {
	t, j := d.pic.theme, d.job
	facts := d.columnsOf(w)
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
			line += t.dim.draw(safe.Fit(f.name, factName)) + " " + f.ink.draw(safe.Fit(f.text, cellW-factName-1)) + "  "
		}
		lines = append(lines, line)
	}
	named := func(name string, k ink, text []string) {
		for i, line := range text {
			lines = append(lines, " "+t.dim.draw(safe.Fit(pick(i == 0, name, ""), factName))+" "+k.draw(line))
		}
	}
	if safe.Width(safe.Text(kindOf(j.Queue, j.Kind))) > w-24 { // the heading cannot show it whole
		named("queue", t.text, wrap(j.Queue, w-factName-1))
		if j.Kind != "" {
			named("kind", t.text, wrap(j.Kind, w-factName-1))
		}
	}
	for i, why := range d.held() {
		if i == 0 {
			lines = append(lines, "")
		}
		named(pick(i == 0, pick(j.Status == queue.Pending, "waits", "redrive"), ""), why.ink, wrap(why.text, w-factName-1))
	}
	if d.refused != nil {
		text, _ := mask.Text(d.refused.Error() + pick(d.refused.Detail != "", " ("+d.refused.Detail+")", ""))
		lines = append(lines, "")
		named("refused", t.alarm, wrap(text+" · last "+age(max(d.pic.now.Sub(d.refused.Last), 0))+" ago", w-factName-1))
	}
	if j.LastError != "" {
		lines = append(lines, "")
		said := j.LastError
		if !d.revealed {
			said, _ = mask.Text(said)
		}
		text, more := wrapLines(block(said), w-factName-1)
		if more += len(text) - 6; more > 1 {
			text = append(text[:6], "… "+plural(more, "line")+" more")
		}
		named(pick(j.Status.IsDeadLetter(), "error", "last error"), t.bad, text)
	}
	return lines
}
