package ui

import (
	"fmt"
	"slices"

	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// Lines draws the dialog.
func (f *planForm) Lines(t *theme, w, h int, armed bool) []string {
	if f.showing != nil {
		f.lay(t, w)
		lines := f.showing.View(w, max(h-2, 1))
		return append(lines, "", safe.FitStyled(t.chip(quiet, "esc  back")+"   "+t.dim.draw(f.showing.Heading().note), w))
	}
	p, err := f.plan()
	form := f.form(t, w)
	words := wrap(planwords.Will(p, len(f.set.ids)), w)
	k := t.text
	if err != nil {
		words, k = wrap("! "+err.Error(), w), t.warn
	}
	buttons := f.buttons(t, w, armed, err == nil)
	about := slices.DeleteFunc(slices.Clone(f.set.says), func(line string) bool { return line == "" })
	tight := h < 20
	room := h - len(form) - len(words) - 4 - pick(tight, 0, 3)
	if most := max(room, 1); len(about) > most {
		about = append(about[:most-1:most-1], t.dim.draw("…"))
	}
	var lines []string
	gap := func() {
		if !tight {
			lines = append(lines, "")
		}
	}
	gap()
	for _, line := range about {
		lines = append(lines, safe.FitStyled(line, w))
	}
	lines = append(lines, safe.FitStyled(f.outlook(t), w))
	gap()
	lines = append(lines, form...)
	lines = append(lines, "")
	for _, line := range words {
		lines = append(lines, k.draw(line))
	}
	lines = append(lines, "", safe.FitStyled(buttons, w))
	gap()
	if len(lines) > h { // what it does and how it is left stay in sight
		lines = append(lines[:max(h-2, 0):max(h-2, 0)], "", safe.FitStyled(buttons, w))
		lines = lines[:min(len(lines), max(h, 0))]
	}
	return lines
}

// outlook is what the dry run found, in a line.
func (f *planForm) outlook(t *theme) string {
	switch {
	case f.failed != nil:
		return t.warn.draw("! not tried: " + brief(f.failed.Error(), 200))
	case f.tried == nil:
		return t.dim.draw("trying what would happen…")
	}
	r, n := f.tried, int64(len(f.set.ids))
	line := t.good.draw("✓") + t.dim.draw(" dry run: ") + t.text.draw("all of them can be redriven now")
	if ready := n - r.Gone - r.InUse; ready < n {
		line = t.warn.draw("!") + t.dim.draw(" dry run: ") + t.text.draw(thousands(ready)+" can be redriven now")
	}
	if r.Gone > 0 {
		line += t.dim.draw(" · ") + t.warn.draw(thousands(r.Gone)+" no dead letters any more")
	}
	if r.InUse > 0 {
		line += t.dim.draw(" · ") + t.warn.draw(thousands(r.InUse)+" whose key is in use")
	}
	return line + t.dim.draw(" · "+plural(len(r.Groups), "kind")+" of error · ") + t.accent.draw("d") + t.dim.draw(" lists")
}

// form draws the fields.
func (f *planForm) form(t *theme, w int) []string {
	const nameW = 21
	line := func(field int, name, value, unit string) string {
		k := t.dim
		if field == f.at {
			k = t.lead
		}
		return t.lineOf(k.draw(safe.Fit(name, nameW))+value+"  "+t.dim.draw(unit), w, field == f.at, false)
	}
	number := func(field int) string {
		if field == f.at {
			return f.inputs[field].View(t, 10)
		}
		text := f.inputs[field].text
		return pick(text == "", t.faint, t.strong).draw(safe.Fit(pick(text == "", "–", text), 10))
	}
	choice := func(on bool, text string) string {
		if on {
			return t.accent.draw("(●) ") + t.strong.draw(text)
		}
		return t.faint.draw("( ) ") + t.dim.draw(text)
	}
	then := choice(f.wait, "wait for me") + "   " + choice(!f.wait, "go on by itself")
	if f.whole() {
		then = t.faint.draw("nothing: these are all of them")
	}
	reason := f.inputs[fieldReason].View(t, max(w-nameW-4, 1))
	if f.at != fieldReason {
		text := f.inputs[fieldReason].text
		reason = pick(text == "", t.faint, t.strong).draw(brief(pick(text == "", "for whoever reads the log", text), max(w-nameW-4, 1)))
	}
	unit := func(long, short string) string { return pick(w >= 84, long, short) }
	return []string{
		line(fieldCanary, "try first", number(fieldCanary), unit("of them, and watch how they end; empty: all at once", "of them; empty: all at once")),
		line(fieldThen, "then", then, ""),
		line(fieldPace, "pace", number(fieldPace), unit("jobs a second; empty: as fast as it goes", "a second; empty: unpaced")),
		line(fieldStop, "stop when more than", number(fieldStop), unit("% of those that ended died again; empty: never", "% died again; empty: never")),
		line(fieldReason, "reason", reason, ""),
	}
}

func (f *planForm) buttons(t *theme, w int, armed, fine bool) string {
	on := f.at == fieldButton
	var more []string
	if f.at == fieldThen {
		more = append(more, t.chip(quiet, "space  choose"))
	}
	if f.at != fieldReason {
		more = append(more, t.chip(quiet, "d  dry run"), t.chip(quiet, "s  SQL"))
	}
	for {
		row := buttonRow(t, okay, armed, fine, on, "start", "leave them", more...)
		if len(more) == 0 || safe.Width(row) <= w { // how to start it and how to leave it stay
			return row
		}
		more = more[:len(more)-1]
	}
}

// lay lays out what is shown instead of the form.
func (f *planForm) lay(t *theme, w int) {
	if f.width == w {
		return
	}
	f.width = w
	var lines []string
	for i, s := range f.statements {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.lead.draw(safe.Text(s.About)))
		for k, value := range s.Values {
			lines = append(lines, t.dim.draw(safe.Text(fmt.Sprintf("$%d  %s", k+1, value))))
		}
		lines = append(lines, wrap(s.SQL, w-1)...)
	}
	f.sql.SetLines(lines)
	f.groups.SetLines(f.groupLines(t, w-1))
}

// groupLines are the problems that the set died of, the most frequent first.
func (f *planForm) groupLines(t *theme, w int) []string {
	if f.tried == nil {
		return []string{f.outlook(t)}
	}
	lines := []string{f.outlook(t), ""}
	countW, kindW := 5, 8
	for _, g := range f.tried.Groups {
		countW = max(countW, len(thousands(g.Count)))
		kindW = max(kindW, min(safe.Width(safe.Text(kindOf(g.Queue, g.Kind))), 28))
	}
	for _, g := range f.tried.Groups {
		lines = append(lines, safe.FitStyled(t.strong.draw(safe.FitRight(thousands(g.Count), countW))+"  "+
			t.accent.draw(safe.Fit(kindOf(g.Queue, g.Kind), kindW))+"  "+t.text.draw(safe.Text(briefly(g.Error))), w))
	}
	return append(lines, "", t.dim.draw("Nothing has been changed."))
}
