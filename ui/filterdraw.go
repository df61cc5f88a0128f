package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/safe"
)

// keptLines is how many lines a filter gets that nobody types in.
const keptLines = 3

// Lines draws the filter: nothing where there is none, else the literal text and, while it
// is typed, what is wrong with it and where, or how it can go on.
func (l *filterLine) Lines(t *theme, w int) (lines []string) {
	const front = 3 // " / "
	if l.typing == nil {
		if l.text == "" {
			return nil
		}
		for i, line := range bound(wrap(masked(l.text), w-front-1), keptLines, w-front-1) {
			lines = append(lines, pick(i == 0, " "+t.accent.draw("/")+" ", "   ")+t.strong.draw(line))
		}
		return lines
	}
	from, to := 0, 0
	wrong := l.wrong != nil && !l.wrong.Open // else it may become right as it goes on
	if wrong {
		from, to = l.wrong.From, l.wrong.To
	}
	line, at, wide := l.typing.Marked(t, w-front-1, from, to)
	lines = []string{" " + t.accent.draw("/") + " " + line}
	switch {
	case l.typing.full:
		return append(lines, "   "+t.warn.draw(safe.Fit(fmt.Sprintf("there is no room for that: at most %s letters", thousands(typedMost)), w-front-1)))
	case wrong:
		says := l.wrong.Error()
		if l.applied.String() != "" || l.version > 0 {
			says += " · still shown: " + pick(l.applied.Empty(), "all", brief(masked(l.applied.String()), 60))
		}
		return append(lines, pointed(t, says, at, wide, w-front-1)...)
	case len(l.offers) > 0, l.cycling():
		return append(lines, "   "+l.offerLine(t, w-front-1))
	}
	return append(lines, "   "+t.dim.draw(safe.Fit(pick(l.text == "", `tab names the words there are; or type any text`, ""), w-front-1)))
}

// pointed draws what is wrong with a part of the line above, beside marks under that part
// or, where there is no room, below them.
func pointed(t *theme, says string, at, wide, w int) []string {
	at = max(min(at, w-1), 0)
	marks := "   " + strings.Repeat(" ", at) + t.alarm.draw(strings.Repeat("^", max(min(wide, w-at), 1)))
	if room := w - at - wide - 1; safe.Width(safe.Text(says)) <= room {
		return []string{marks + " " + t.warn.draw(safe.Text(says))}
	}
	lines := []string{marks}
	for _, line := range bound(wrap("! "+says, w), 2, w) {
		lines = append(lines, "   "+t.warn.draw(line))
	}
	return lines
}

// bound leaves out the lines that are too many, and says so at the end of the last.
func bound(lines []string, most, w int) []string {
	if len(lines) <= most {
		return lines
	}
	lines = lines[:most]
	lines[most-1] = safe.Fit(ansi.Truncate(lines[most-1], max(w-2, 0), "")+" …", w)
	return lines
}

// offerLine is how the text can go on: as many ways as there is room for.
func (l *filterLine) offerLine(t *theme, w int) string {
	all, at := l.offers, -1
	if l.cycling() {
		all, at = l.offered.all, l.offered.at
	}
	line := t.accent.draw("tab")
	used := 3
	for i := max(at, 0); i < len(all); i++ {
		text, note := offerText(&all[i]), ""
		if all[i].Note != "" && (at < 0 && i == 0 || i == at) {
			note = " " + safe.Text(all[i].Note)
		}
		if used+2+safe.Width(text)+safe.Width(note) > w {
			note = ""
		}
		if used+2+safe.Width(text) > w-2 {
			line += t.dim.draw(" …")
			break
		}
		line += "  " + pick(i == at, t.lead, t.text).draw(text) + t.dim.draw(note)
		used += 2 + safe.Width(text) + safe.Width(note)
	}
	return safe.FitStyled(line, w)
}

// offerText is a completion in a line of them.
func offerText(c *filter.Completion) string { return safe.Text(brief(strings.TrimSpace(c.Text), 30)) }

// cycling tells whether tab goes on to the next of several completions.
func (l *filterLine) cycling() bool { return len(l.offered.all) > 1 && l.offered.shown == l.text }
