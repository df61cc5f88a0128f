package ui

import (
	"strconv"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// eventsPane shows the journal, newest first.
type eventsPane struct {
	pic  *picture
	rows []happening
	list selection[happeningKey]
	lit  bool
}

// Show takes a new picture.
func (e *eventsPane) Show(p *picture) {
	e.pic = p
	e.rows = p.journal()
	keys := make([]happeningKey, len(e.rows))
	for i, one := range e.rows {
		keys[i] = one.key()
	}
	e.list.SetKeys(keys)
	if !e.lit {
		e.list.Rest()
	}
}

// Move moves the cursor.
func (e *eventsPane) Move(m motion) { e.list.Move(m) }

// Focus gives or takes the focus.
func (e *eventsPane) Focus(on bool) { e.lit = on }

// Job returns the job of the line under the cursor.
func (e *eventsPane) Job() (int64, bool) {
	if e.list.at < len(e.rows) && e.rows[e.list.at].job() != 0 {
		return e.rows[e.list.at].job(), true
	}
	return 0, false
}

// Heading names the pane.
func (e *eventsPane) Heading() heading {
	h, depths := heading{name: "EVENTS", note: "newest first"}, e.pic.state.Depths
	if !e.lit && depths.Source != watch.Polled { // there is room for one or the other
		h.note += ", routine thinned"
	}
	return e.pic.provenance(h, depths.Source, depths.Read) // they come the same way
}

// View draws the pane's inside.
func (e *eventsPane) View(w, h int) []string {
	if len(e.rows) == 0 {
		return []string{"", e.pic.theme.dim.draw(" nothing has happened yet")}
	}
	var lines []string
	if !e.lit {
		for _, one := range digest(e.rows, h) {
			lines = append(lines, e.pic.theme.lineOf(e.pic.tell(one).draw(e.pic.theme, w-2), w, false, false))
		}
		return lines
	}
	from, to := e.list.Window(max(h, 1))
	for i := from; i < to; i++ {
		lines = append(lines, e.pic.theme.lineOf(e.pic.tell(e.rows[i]).draw(e.pic.theme, w-2), w, i == e.list.at, false))
	}
	return lines
}

// digest chooses h entries of a journal that nobody reads line by line: what is
// out of the ordinary stays in sight in two thirds of the lines, however many
// jobs go well meanwhile; the newest routine fills the rest. The order stays.
func digest(rows []happening, h int) []happening {
	notable := 0
	for _, one := range rows {
		if !one.routine() {
			notable++
		}
	}
	h = max(h, 0)
	special := min(notable, h-min(h, max(h/3, 1)))
	routine := h - special
	var out []happening
	for _, one := range rows {
		left := &special
		if one.routine() {
			left = &routine
		}
		if *left > 0 {
			*left--
			out = append(out, one)
		}
	}
	return out
}

// from is the source in w cells: a word that is cut short would be another.
func (e entry) from(w int) string {
	if e.source == string(watch.Notice) && w < len(e.source) {
		return "ntfy"
	}
	return e.source
}

// draw writes a line in w cells: time, source, glyph, job, what happened, and to
// what kind of job.
func (e entry) draw(t *theme, w int) string {
	clock := e.at.UTC().Format("15:04:05")
	if w < 50 { // beside the leases of a window 120 cells wide it has as much
		clock = clock[3:]
	}
	job := ""
	if e.job != 0 {
		job = strconv.FormatInt(e.job, 10) + " "
	}
	k := map[tone]ink{quiet: t.dim, okay: t.good, caution: t.warn, danger: t.bad}[e.kind]
	text := t.text
	if e.kind == quiet {
		text = t.dim
	}
	room := w - len(clock) - 1 - 5 - 2 - len(job)
	said := safe.Text(e.text)
	line := t.dim.draw(clock) + " " + t.dim.draw(safe.Fit(e.from(4), 4)) + " " + k.draw(safe.Fit(e.glyph, 1)) + " " + t.strong.draw(job)
	if n := safe.Width(said); e.about != "" && room-n >= 4 {
		return line + text.draw(said) + "  " + t.dim.draw(safe.Fit(e.about, room-n-2))
	}
	return line + text.draw(safe.Fit(said, room))
}
