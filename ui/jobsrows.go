package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// View draws the tab.
func (j *jobsTab) View(w, h int) []string {
	t := j.pic.theme
	frame, inner, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w, 1
	}
	foot := j.line.Lines(t, inner)
	foot = foot[:min(len(foot), max(h/3, 0))]
	lines := j.rows(inner, h-edges-len(foot))
	for len(lines) < h-edges-len(foot) {
		lines = append(lines, "")
	}
	lines = append(lines[:max(h-edges-len(foot), 0)], foot...)
	return frame(j.heading(w), lines, w, h, true) // it says how far the rows in sight go
}

// heading says whose jobs these are, how many there are by the live counts, how old the
// list is, and how far it goes: as much as there is room for.
func (j *jobsTab) heading(w int) heading {
	h := heading{name: "JOBS", rest: join(j.chosen(), j.count())}
	old, stale := j.ages()
	var words []string
	for _, word := range []string{old, j.asking()} {
		if word != "" {
			words = append(words, word)
		}
	}
	h.must = pick(stale, "stale", "")
	if top := j.list.top; top > 0 {
		words = append(words, bounded(int64(top), j.above.next != nil, 9)+" above")
	} else if j.above.next != nil {
		words = append(words, "newer not read")
	}
	if below := len(j.jobs) - j.list.top - j.list.height; below > 0 {
		words = append(words, bounded(int64(below), j.below.next != nil, 9)+" below")
	} else if j.below.next != nil && len(j.jobs) > 0 {
		words = append(words, "older not read")
	}
	for ; len(words) > 0; words = words[:len(words)-1] {
		h.note = strings.Join(words, ", ")
		if safe.Width(focusMark(true)+h.name+safe.Text(h.rest)+h.note)+3+6 <= w {
			break
		}
	}
	return h
}

// chosen is the queue and the standing, in words.
func (j *jobsTab) chosen() string {
	if j.queue == "" && j.stands == &standsAny {
		return pick(j.line.applied.Empty(), "all", "filtered")
	}
	name := pick(j.queue == "", allQueues, brief(j.queue, 24))
	if _, paused := j.pic.state.Pauses.Of(j.queue); paused {
		name = pausedMark + name
	}
	return name + " · " + j.stands.name + pick(j.line.applied.Empty(), "", " · filtered")
}

// ages says how old what is in sight is: as old as its oldest row.
func (j *jobsTab) ages() (text string, stale bool) {
	read, stale := j.heard, j.owesNewer()
	for i, row := range j.sight() {
		if i == 0 || row.read.Before(read) {
			read = row.read
		}
		stale = stale || j.isStale(&row)
	}
	switch old := age(j.pic.local.Sub(read)); {
	case j.err != nil && !j.read:
		return "not read", false
	case !j.read:
		return "", false
	case stale:
		return "stale: " + old + " old", true
	default:
		return "read " + old + " ago", false
	}
}

// owesNewer tells that jobs newer than the first row may well be missing.
func (j *jobsTab) owesNewer() bool {
	_, old := j.pic.stale(j.heard)
	return old && j.list.top == 0 && j.above.next == nil && j.head < j.changes
}

// asking says that a question is on its way and, once that is worth a word, for how long:
// somebody may have the table locked.
func (j *jobsTab) asking() string {
	since := j.pic.local.Sub(j.asked)
	switch {
	case j.loading && since > time.Second:
		return "reading… " + age(since)
	case !j.read && j.err == nil:
		return "reading…"
	}
	return ""
}

// sight is the rows that were drawn last.
func (j *jobsTab) sight() []listed {
	from := min(j.list.top, len(j.jobs))
	return j.jobs[from:min(from+j.list.height, len(j.jobs))]
}

var jobColumns = []column{
	{title: "JOB", min: 5, max: 5, right: true},
	{title: "KIND", min: 8, max: 8, rank: 2},
	{title: "STATUS", min: 12},
	{title: "ATT", min: 3, max: 5, right: true, rank: 3},
	{title: "WHEN", min: 10, max: len("due 11m08s ago")},
	{title: "WORKER OR ERROR", min: 16, max: 400, grows: true, rank: 1},
}

func (j *jobsTab) rows(w, h int) []string {
	t := j.pic.theme
	foot := j.foot(w)
	foot = foot[:min(len(foot), max(h/2, 0))]
	if len(j.jobs) == 0 {
		j.list.Window(max(h-1, 1))
		return append(append([]string{""}, j.none()...), foot...)
	}
	room := max(h-1-len(foot), 1)
	from, to := j.list.Window(room)
	columns := append([]column(nil), jobColumns...)
	each := func(text func(*queue.Job) string) func(func(string) bool) {
		return func(yield func(string) bool) {
			for i := from; i < to; i++ {
				if !yield(text(&j.jobs[i].Job)) {
					return
				}
			}
		}
	}
	columns[0].max = widest(5, 19, each(func(job *queue.Job) string { return itoa(job.ID) }))
	columns[0].min = columns[0].max
	columns[1].max = widest(8, max(min(24, w/4), 8), each(j.kind))
	columns[3].max = widest(3, 7, each(func(job *queue.Job) string { return tries(job.Attempts, job.MaxAttempts) }))
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	for i := from; i < to; i++ {
		line := t.lineOf(g.row(j.cells(&j.jobs[i], columns[1].max)), w, i == j.list.at, false)
		if j.isStale(&j.jobs[i]) {
			line = t.dim.fade(line)
		}
		lines = append(lines, line)
	}
	for len(lines) <= room {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}

// isStale tells that a row may well have changed since it was read.
func (j *jobsTab) isStale(row *listed) bool {
	_, old := j.pic.stale(row.read)
	return old && (j.err != nil || row.changes < j.changes)
}

// kind is what runs a job; without its queue where all are of one.
func (j *jobsTab) kind(job *queue.Job) string {
	if j.queue != "" && job.Kind != "" {
		return job.Kind
	}
	return kindOf(job.Queue, job.Kind)
}

func (j *jobsTab) cells(row *listed, full int) []cell {
	t, job := j.pic.theme, row.Job
	if lease, ok := j.leases[job.ID]; ok && job.Status == queue.Processing && j.pic.state.Leases.Read.After(row.read) {
		job.LeaseExpiresAt, job.LockedBy = &lease.ExpiresAt, lease.Owner // renewed since
		job.Attempts, job.CancelledBy = lease.Attempts, lease.CancelledBy
	}
	stands := standingOf(&job, j.pic.now)
	what := t.kindCell(job.Queue, job.Kind, full)
	if j.queue != "" {
		what = cell{text: j.kind(&job), ink: t.dim}
	}
	attempts := t.dim
	if job.Attempts > 1 {
		attempts = t.warn
	}
	return []cell{
		{text: itoa(job.ID), ink: t.strong},
		what,
		{text: stands.glyph + " " + stands.name, ink: stands.ink(t)},
		{text: tries(job.Attempts, job.MaxAttempts), ink: attempts},
		j.when(&job, stands, row),
		j.last(&job),
	}
}

// when is how long ago a job was due or has until then, what is left of its lease, or
// how long ago it was done or died.
func (j *jobsTab) when(job *queue.Job, stands *standing, row *listed) cell {
	t, now := j.pic.theme, j.pic.now
	switch stands {
	case &standsReady:
		if job.RunAt.Always() {
			return cell{text: "always", ink: t.text}
		}
		ago := age(now.Sub(job.RunAt.Time)) + " ago"
		return cell{paint: func(w int) string {
			return t.text.draw(safe.Fit(pick(len("due "+ago) <= w, "due "+ago, ago), w))
		}}
	case &standsScheduled:
		return cell{text: due(job.RunAt, now), ink: t.dim}
	case &standsProcessing:
		return j.lease(job, row.read)
	case &standsCompleted:
		return cell{text: age(now.Sub(job.UpdatedAt)) + " ago", ink: t.dim}
	}
	return cell{text: since(job.DiedAt, now) + " ago", ink: t.dim}
}

// lease is what is left of a lease. Of one that ended after it was read, nobody here
// knows what became of it.
func (j *jobsTab) lease(job *queue.Job, read time.Time) cell {
	t := j.pic.theme
	if job.LeaseExpiresAt == nil {
		return cell{text: "–", ink: t.faint}
	}
	rest := job.LeaseExpiresAt.Sub(j.pic.now)
	switch {
	case rest > 0:
		return cell{text: left(rest) + " left", ink: t.text}
	case job.LeaseExpiresAt.Before(j.pic.state.Clock.Now(read)):
		return cell{text: "late " + age(-rest), ink: t.alarm}
	}
	return cell{text: "ended?", ink: t.warn}
}

// last is who runs a job, or what went wrong with it last.
func (j *jobsTab) last(job *queue.Job) cell {
	t := j.pic.theme
	if job.Status == queue.Processing {
		if job.CancelledBy != "" {
			return cell{paint: func(w int) string { return t.cancelling(job.CancelledBy, w) }}
		}
		who := j.pic.holder(job.LockedBy)
		return cell{text: join(who.name, who.gone()), ink: pick(who.gone() == "", t.accent, t.bad)}
	}
	return cell{text: briefly(job.LastError), ink: pick(job.Status.IsDeadLetter(), t.text, t.dim)}
}

// none says that there are no jobs to show, as far as it is known.
func (j *jobsTab) none() []string {
	t := j.pic.theme
	switch {
	case !j.read && j.err != nil:
		return nil
	case !j.read:
		return []string{t.dim.draw(" " + j.asking())}
	case j.below.next != nil || j.above.next != nil:
		return nil
	case !j.line.applied.Empty():
		return []string{t.dim.draw(" no job matches" + pick(j.queue == "" && j.stands == &standsAny, " the filter", ": "+safe.Text(j.chosen())))}
	case j.queue == "" && j.stands == &standsAny:
		return []string{t.dim.draw(" no jobs yet · leasetop enqueue --queue emails")}
	}
	what := "no job" + pick(j.stands == &standsAny, "", " is "+j.stands.name) + pick(j.queue == "", "", " in "+brief(j.queue, 40))
	return []string{" " + t.dim.draw(what+" · s another status, ←→ another queue")}
}

// foot stands below the rows: that they could not be read, or how far was looked.
func (j *jobsTab) foot(w int) []string {
	t := j.pic.theme
	var lines []string
	if j.err != nil {
		what := "not read"
		if j.read {
			what += " again"
		}
		words := wrap(fmt.Sprintf("%s since %s: %v", what, age(j.pic.local.Sub(j.failed)), j.err), w-4)
		for i, line := range words[:min(len(words), 6)] {
			lines = append(lines, " "+pick(i == 0, t.bad.draw("✗"), " ")+" "+t.text.draw(line))
		}
		return append(lines, t.dim.draw("   asked again every "+age(afterError)))
	}
	if !j.read {
		return nil
	}
	for _, e := range j.near() {
		if e.next == nil || e.looked < jobsLook || !e.stopped() && !j.loading {
			continue
		}
		way := pick(e == &j.below, "down", "up")
		text := fmt.Sprintf("looked at %s jobs %s to id %s", thousands(int64(e.looked)), way, thousands(e.next.ID))
		if e.found == 0 {
			text += pick(len(j.jobs) > 0, ", none more yet", ", none yet")
		}
		if e.stopped() {
			text += " · " + pick(len(j.jobs) > 0, "space looks further", "space or enter looks further")
		} else {
			text += "…"
		}
		for i, line := range wrap(text, w-4) {
			lines = append(lines, " "+pick(i == 0, t.warn.draw("·"), " ")+" "+t.dim.draw(line))
		}
	}
	return lines
}
