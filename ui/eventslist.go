package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// eventColumns are the columns of the journal in w cells. They depend on nothing that
// is shown: lines come and go by the hundred, and must not push each other about.
func eventColumns(w int) []column {
	wide := w >= wideWidth
	return []column{
		{title: "TIME", min: len("15:04:05.000")},
		{title: "FROM", min: 4, max: pick(wide, 6, 4), rank: 3},
		{title: "WHAT", min: 2 + len("cancel asked")},
		{title: "JOB", min: 7, max: pick(wide, 10, 7), right: true},
		{title: "QUEUE/KIND", min: 8, max: min(max(w/pick(wide, 5, 6), 8), 40), rank: 1},
		{title: "WORKER", min: 6, max: min(max(w/10, 6), 24), rank: 2},
		{title: "NOTE", min: 12, max: w, grows: true},
	}
}

// cells are an entry's, one for each of the columns.
func (e entry) cells(t *theme) []cell {
	k := map[tone]ink{quiet: t.dim, okay: t.good, caution: t.warn, danger: t.bad}[e.kind]
	text := pick(e.kind == quiet, t.dim, t.text)
	job, note := "", e.note
	switch {
	case e.job != 0:
		job = strconv.FormatInt(e.job, 10)
	case e.count > 1:
		job = fmt.Sprintf("×%d", e.count)
		note = strings.TrimSuffix(note, plural(e.count, "job")) // it says as much
	}
	return []cell{
		{text: e.at.UTC().Format("15:04:05.000"), ink: t.dim},
		{paint: func(w int) string { return t.dim.draw(safe.Fit(e.from(w), w)) }},
		{paint: func(w int) string { return k.draw(safe.Fit(e.glyph, 1)) + " " + text.draw(safe.Fit(e.word, w-2)) }},
		{text: job, ink: t.strong},
		{paint: func(w int) string {
			whole := safe.Width(safe.Text(e.task)) <= w
			return t.dim.draw(safe.Fit(pick(whole, e.task, e.about), w))
		}},
		{text: e.who, ink: text},
		{text: note, ink: pick(e.kind == danger || e.kind == caution, t.text, t.dim)},
	}
}

// room is the grid that an entry is drawn in. A note about no job has the room of what
// there is none of.
func (e entry) room(g grid) grid {
	if e.job != 0 || e.count > 1 || e.task != "" || e.who != "" {
		return g
	}
	const job = 3
	g.widths = slices.Clone(g.widths)
	note := len(g.widths) - 1
	for i := job; i < note; i++ {
		if g.widths[i] > 0 {
			g.widths[note] += g.widths[i] + g.gap
			g.widths[i] = 0
		}
	}
	return g
}

// Heading says how much is shown of how much.
func (e *eventsTab) Heading() heading {
	h := heading{name: "EVENTS", rest: thousands(int64(len(e.list.keys))), note: "newest last"}
	h = e.pic.provenance(h, e.pic.state.Depths.Source, e.pic.state.Depths.Read)
	if all := len(e.record.lines); len(e.found) != all {
		h.rest += " of " + thousands(int64(all))
	}
	if e.record.missed > 0 {
		h.rest += " · " + thousands(int64(e.record.missed)) + " missed"
	}
	return h
}

// View draws the tab.
func (e *eventsTab) View(w, h int) []string {
	t := e.pic.theme
	if w < wideWidth {
		return t.ruled(e.Heading(), e.inside(w, h-1), w, h, true)
	}
	return t.boxed(e.Heading(), e.inside(w-2, h-2), w, h, true)
}

// inside is the list, and below it what is chosen and how it stands.
func (e *eventsTab) inside(w, h int) []string {
	t := e.pic.theme
	foot := e.rest(w)
	switch {
	case e.typing != nil:
		foot = append(foot, " "+t.accent.draw("/ ")+e.typing.View(t, w-4))
	case e.sieve.text != "":
		foot = append(foot, " "+t.accent.draw("/ ")+t.strong.draw(safe.Fit(e.sieve.text, w-4)))
	}
	if wrong := e.mistake(); wrong != "" {
		lines := wrap("! "+wrong, w-4)
		for _, line := range lines[:min(len(lines), 2)] {
			foot = append(foot, "   "+t.warn.draw(line))
		}
	}
	foot = append(foot, e.status(w))
	lines := e.rows(w, h-len(foot))
	for len(lines) < h-len(foot) {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}

// rest is the whole note of the line under the cursor, where the list cuts it short and
// somebody reads it.
func (e *eventsTab) rest(w int) (lines []string) {
	key, ok := e.list.Key()
	if !ok || !e.reading() {
		return nil
	}
	t, told := e.pic.theme, e.pic.tell(*e.record.line(key))
	widths := told.room(arrange(eventColumns(w), w-2)).widths
	if safe.Width(safe.Text(told.note)) <= widths[len(widths)-1] {
		return nil
	}
	for _, line := range wrap(told.note, w-4) {
		if len(lines) < 3 {
			lines = append(lines, "   "+t.text.draw(line))
		}
	}
	return lines
}

func (e *eventsTab) rows(w, h int) []string {
	t := e.pic.theme
	from, to := e.list.Window(max(h-1, 1))
	if len(e.list.keys) == 0 {
		return e.none()
	}
	g := arrange(eventColumns(w), w-2)
	lines := []string{" " + g.header(t.dim)}
	for i := from; i < to; i++ {
		told := e.pic.tell(*e.record.line(e.list.keys[i]))
		lines = append(lines, t.lineOf(told.room(g).row(told.cells(t)), w, i == e.list.at, false))
	}
	return lines
}

// none says why nothing is shown.
func (e *eventsTab) none() []string {
	t := e.pic.theme
	if len(e.record.lines) == 0 {
		return []string{"", t.dim.draw(" nothing has happened yet")}
	}
	lines := []string{"", t.dim.draw(" none of " + thousands(int64(len(e.record.lines))) + " is chosen"), ""}
	if e.sieve.text != "" {
		lines = append(lines, " "+t.accent.draw("esc")+t.dim.draw(" takes the filter away"))
	}
	if e.sieve.level != everything {
		lines = append(lines, " "+t.accent.draw("v")+t.dim.draw(fmt.Sprintf(" views more than %v", e.sieve.level)))
	}
	return lines
}

// mistake is what is wrong with what is typed.
func (e *eventsTab) mistake() string {
	switch {
	case e.typing != nil && e.typing.full:
		return fmt.Sprintf("there is no room for that: at most %s letters", thousands(typedMost))
	case e.sieve.wrong != nil:
		return e.sieve.wrong.Error()
	}
	return ""
}

// status says how much is viewed, and whether the newest is.
func (e *eventsTab) status(w int) string {
	t := e.pic.theme
	right := t.dim.draw("following")
	switch n := thousands(e.fresh()); {
	case e.frozen:
		right = t.chip(caution, "‖ LIST FROZEN") + t.text.draw(" "+n+" new below, ") + t.accent.draw("space") + t.text.draw(" goes on")
	case n != "0":
		right = t.text.draw(n+" new below, ") + t.accent.draw("G") + t.text.draw(" goes on")
	case e.reading():
		right = t.accent.draw("G") + t.dim.draw(" goes to the newest")
	}
	all := e.sieve.level == everything && e.sieve.words.Empty()
	return spread([]part{{pick(all, t.dim, t.warn).draw(e.sieve.String()), 1}}, []part{{right, 0}}, w)
}
