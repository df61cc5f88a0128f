package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// View draws the tab.
func (d *deadTab) View(w, h int) []string {
	t := d.pic.theme
	frame, inner, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w, 1
	}
	lines := d.inside(inner, h-edges)
	return frame(d.Heading(w), lines, w, h, true) // it says how far the rows in sight go
}

// inside is the rows, and below them what there is to say of them, the marks and the filter.
func (d *deadTab) inside(w, h int) []string {
	foot := d.foot(w)
	foot = foot[max(len(foot)-max(h-4, 0), 0):]
	room := h - len(foot)
	var lines []string
	if d.listed {
		lines = d.listRows(w, room)
	} else {
		lines = d.groupRows(w, room)
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return append(lines[:max(room, 0)], foot...)
}

func (d *deadTab) groupRows(w, h int) []string {
	g := &d.groups
	if len(g.list.keys) == 0 {
		g.list.Window(max(h-1, 1))
		return d.empty(g.read, g.err, w)
	}
	foot := g.sample(w, min(3, h/6))
	inFoot := w >= barsWidth && w < wideWidth-2 // the heading has no room for what the bars are about
	if inFoot {
		foot = append([]string{""}, foot...)
	}
	from, to := d.stretch()
	lines := g.rows(w, h-len(foot), func(i int, key groupKey) bool {
		_, ok := d.marks.groups[key]
		return ok || i >= from && i < to || d.marks.covers(key.where)
	})
	for len(lines) < h-len(foot) {
		lines = append(lines, "")
	}
	if inFoot {
		foot[0] = d.pic.theme.dim.draw(safe.Fit("   "+g.legend(), w))
	}
	return append(lines, foot...)
}

func (d *deadTab) listRows(w, h int) []string {
	t, l := d.pic.theme, &d.list
	if len(l.rows) == 0 {
		l.list.Window(max(h-1, 1))
		return d.empty(l.read && !l.below.lacks(), l.err, w)
	}
	from, to := l.list.Window(max(h-1, 1))
	g := deadGrid(jobsOf(l.rows[from:to]), w-4) // beside the cursor and the marks
	g.widths[0]++                               // which stand apart from the ages
	lines := []string{"  " + g.header(t.dim)}
	begin, end := d.stretch()
	for i := from; i < to; i++ {
		job := &l.rows[i].Job
		_, marked := d.marks.jobs[job.ID]
		marked = marked || i >= begin && i < end || d.marks.covers(l.filter.String())
		row := g.row(deadCells(t, job, g.columns[2].max, d.pic.now))
		lines = append(lines, t.lineOf(" "+row, w, i == l.list.at, marked))
	}
	return lines
}

// covers tells whether all that match a filter are marked.
func (m *deadMarks) covers(where string) bool { return m.all != nil && m.all.where == where }

// empty says why there are no rows.
func (d *deadTab) empty(read bool, err error, w int) []string {
	t := d.pic.theme
	switch {
	case !read && err != nil:
		lines := []string{"", " " + t.bad.draw("✗") + t.text.draw(" not read:")}
		for _, line := range wrap(err.Error(), w-3) {
			lines = append(lines, "   "+line)
		}
		return append(lines, "", t.dim.draw("   asked again every "+age(afterError)))
	case !read:
		return []string{"", t.dim.draw(" " + d.asking())}
	case d.listed && d.list.below.next != nil:
		return nil // the foot says how far it looked
	case !d.line.applied.Empty():
		return []string{"", t.dim.draw(" no dead letter matches the filter")}
	}
	return []string{"", " " + t.good.draw("✓") + t.dim.draw(" no dead letters")}
}

// asking says that a question is on its way and, once that is worth a word, for how long.
func (d *deadTab) asking() string {
	loading, asked := d.groups.loading, d.groups.asked
	if d.listed {
		loading, asked = d.list.loading, d.list.asked
	}
	if since := d.pic.local.Sub(asked); loading && since >= 1e9 {
		return "reading… " + age(since)
	}
	return "reading…"
}

// foot stands below the rows.
func (d *deadTab) foot(w int) (lines []string) {
	t := d.pic.theme
	note := func(k ink, mark, text string) {
		for i, line := range bound(wrap(text, w-4), 2, w-4) {
			lines = append(lines, " "+pick(i == 0, k.draw(mark), " ")+" "+t.dim.draw(line))
		}
	}
	if d.listed {
		if l := &d.list; l.err != nil && len(l.rows) > 0 {
			note(t.bad, "✗", fmt.Sprintf("not read again since %s: %v", age(d.pic.local.Sub(l.failed)), l.err))
		}
		if text := d.lookedAt(); text != "" {
			note(t.warn, "·", text)
		}
	} else if g := &d.groups; g.read {
		if g.err != nil {
			note(t.bad, "✗", fmt.Sprintf("not read again since %s: %v", age(d.pic.local.Sub(g.failed)), g.err))
		}
		switch {
		case g.part:
			note(t.accent, "…", fmt.Sprintf("of the newest %s dead letters so far, counting all…", thousands(g.found.Looked)))
		case !g.found.Whole:
			note(t.warn, "·", fmt.Sprintf("of the newest %s dead letters; older ones are not counted: a queue's name in the filter leaves out others", thousands(g.found.Looked)))
		}
	}
	if line := d.marked(w); line != "" {
		lines = append(lines, line)
	}
	return append(lines, d.line.Lines(t, w)...)
}

// lookedAt says how far the list was looked for, where that is not as far as its rows go.
func (d *deadTab) lookedAt() string {
	l := &d.list
	e := &l.below
	if !l.read || e.next == nil || e.looked < jobsLook || !l.nearEnd() {
		return ""
	}
	text := fmt.Sprintf("looked at %s dead letters", thousands(int64(e.looked)))
	if e.next.DiedAt != nil {
		text += " back to " + moment(*e.next.DiedAt, d.pic.now)
	}
	if e.found == 0 {
		text += pick(len(l.rows) > 0, ", no more yet", ", none yet")
	}
	if e.stopped() {
		return text + " · " + pick(len(l.rows) > 0, "f looks further", "f or enter looks further")
	}
	return text + "…"
}

// Heading says how many there are, how old that is, and how far the rows go: as much as
// there is room for.
func (d *deadTab) Heading(w int) heading {
	h := heading{name: "DEAD LETTERS"}
	var words []string
	if d.listed {
		h.rest, words = d.listHeading(&h)
	} else {
		h.rest, words = d.groupsHeading(&h, w)
	}
	for ; len(words) > 0; words = words[:len(words)-1] {
		h.note = strings.Join(words, ", ")
		if safe.Width(focusMark(true)+h.name+safe.Text(h.rest)+safe.Text(h.note))+3+6 <= w {
			break
		}
	}
	return h
}

func (d *deadTab) groupsHeading(h *heading, w int) (rest string, words []string) {
	g := &d.groups
	if !g.read {
		in := d.pic.state.Dead
		return pick(d.line.applied.Empty(), bounded(in.Total, in.Capped, 12), ""), []string{pick(g.err != nil, "not read", "reading…")}
	}
	rest = bounded(g.found.Total, !g.found.Whole, 12) + " in " + plural(len(g.list.keys), "group")
	words, stale := g.words()
	if text := g.legend(); text != "" && w >= wideWidth {
		words = append(words, text)
	}
	h.must = pick(stale, "stale", "")
	if n := d.pic.local.Sub(g.asked); g.loading && n >= 1e9 {
		words = slices.Insert(words, 1, "reading… "+age(n))
	}
	return rest, append(words, beyond(g.list.top, len(g.list.keys)-g.list.top-g.list.height, false)...)
}

func (d *deadTab) listHeading(h *heading) (rest string, words []string) {
	l, in := &d.list, d.pic.state.Dead
	total, capped, known := in.Total, in.Capped, true
	if !l.filter.Empty() {
		total, capped, known = d.groups.total(l.filter)
		if d.from != nil && !known {
			total, capped, known = d.from.count, !d.from.groups.found.Whole, true
		}
		if l.read && l.below.next == nil {
			total, capped, known = int64(len(l.rows)), false, true
		}
	}
	switch {
	case known:
		rest = bounded(total, capped, 12) + pick(l.filter.Empty(), "", " matching")
	case l.read:
		rest = bounded(int64(len(l.rows)), true, 12) + " found"
	}
	switch {
	case l.err != nil && !l.read:
		return rest, []string{"not read: " + l.err.Error()}
	case l.err != nil:
		h.must = "stale"
		return rest, []string{"stale: " + age(d.pic.local.Sub(l.failed)) + " old"}
	case !l.read:
		return rest, []string{"reading…"}
	case d.list.end:
		return rest, []string{"reading up to the end…"}
	}
	loaded := len(l.rows)
	if loaded == 0 {
		return pick(l.below.next != nil, "none found yet", rest), nil
	}
	to := min(l.list.top+l.list.height, loaded)
	below, more := loaded-to, false
	if l.below.next != nil {
		more = true
		if known && int(total)-to > below {
			below, more = int(total)-to, capped
		}
	}
	if l.list.top == 0 {
		words = append(words, "newest first")
	}
	words = append(words, beyond(l.list.top, below, more)...)
	if to >= loaded && more || loaded >= deadMost && to >= loaded && below > 0 {
		words = []string{thousands(int64(l.list.top)) + " above", bounded(int64(below), capped, 12) + " older not loaded"}
	}
	return rest, words
}

// beyond says how many rows are above and below the window.
func beyond(above, below int, more bool) (words []string) {
	if above > 0 {
		words = append(words, thousands(int64(above))+" above")
	}
	if below > 0 {
		words = append(words, bounded(int64(below), more, 12)+" below")
	}
	return words
}

func jobsOf(rows []deadRow) []queue.Job {
	jobs := make([]queue.Job, len(rows))
	for i := range rows {
		jobs[i] = rows[i].Job
	}
	return jobs
}
