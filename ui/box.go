package ui

import (
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// heading is what stands in a pane's upper edge.
type heading struct {
	name string // QUEUES
	rest string // 4
	note string // to the right, when there is room: expiring first · polled
	must string // what of the note is said where there is no room for all: polled
}

// restLeast is in how few cells the second part of a heading still says something.
const restLeast = 12

// restIn is the second part in what the first leaves of the room: cut in the middle where it is
// too long, and without it where next to nothing would stay. What must be said of the note goes before.
func (h *heading) restIn(room, used int) string {
	rest := safe.Text(h.rest)
	left := room - used - 1
	switch {
	case safe.Width(rest) <= left:
		return rest
	case h.must != "":
		left -= safe.Width(safe.Text(h.must)) + 2
	}
	if left < restLeast {
		return ""
	}
	return middled(rest, left)
}

// edge draws a line of exactly w cells with the heading in it, between two
// corners: ╭─ QUEUES 4 ───────── expiring first ─╮
func (t *theme) edge(h heading, corners string, w int, focused bool) string {
	line, name := t.faint, t.strong
	if focused {
		line, name = t.accent, t.lead
	}
	ends := []rune(corners)
	if w < 2 {
		return line.draw(strings.Repeat("─", max(w, 0)))
	}
	room := w - 2 - 2 // corners, and the rule at the right
	title, used := "", 0
	if mark := focusMark(focused); h.name != "" && room >= 8 {
		text := safe.Text(h.name)
		used = safe.Width(mark) + safe.Width(text) + 2
		title = line.draw(mark) + " " + name.draw(text) + " "
		if rest := h.restIn(room, used); rest != "" {
			used += safe.Width(rest) + 1
			title = line.draw(mark) + " " + name.draw(text) + " " + t.accent.draw(rest) + " "
		}
		if used > room {
			title, used = safe.FitStyled(title, room), room
		}
	}
	note := safe.Text(h.note)
	if used+safe.Width(note)+6 > w {
		note = safe.Text(h.must)
	}
	if n := safe.Width(note); n > 0 && used+n+6 <= w {
		return line.draw(string(ends[0])) + title + line.draw(strings.Repeat("─", w-2-used-n-3)) +
			t.dim.draw(" "+note+" ") + line.draw("─"+string(ends[1]))
	}
	return line.draw(string(ends[0])) + title + line.draw(strings.Repeat("─", w-2-used)+string(ends[1]))
}

// focusMark says what the colour of a focused border says.
func focusMark(focused bool) string {
	if focused {
		return "▸"
	}
	return "─"
}

// boxed draws lines in a border of w × h cells, heading above. Lines that are
// missing are blank; lines are cut and padded to fit, so no content can bend
// the border.
func (t *theme) boxed(h heading, lines []string, w, height int, focused bool) []string {
	if w < 2 || height < 2 {
		return blankLines(w, height)
	}
	line := t.faint
	if focused {
		line = t.accent
	}
	side := line.draw("│")
	out := make([]string, 0, height)
	out = append(out, t.edge(h, "╭╮", w, focused))
	for i := range height - 2 {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		out = append(out, side+fitLine(text, w-2)+side)
	}
	return append(out, line.draw("╰"+strings.Repeat("─", w-2)+"╯"))
}

// ruled draws lines under a rule with the heading in it, without a border:
// what a box becomes in a small window.
func (t *theme) ruled(h heading, lines []string, w, height int, focused bool) []string {
	if height < 1 {
		return nil
	}
	out := make([]string, 0, height)
	out = append(out, t.edge(h, "──", w, focused))
	for i := range height - 1 {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		out = append(out, fitLine(text, w))
	}
	return out
}

// beside joins two drawings of the same height.
func beside(a, b []string) []string {
	out := make([]string, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return out
}

// blankLines returns h lines of w spaces.
func blankLines(w, h int) []string {
	out := make([]string, max(h, 0))
	for i := range out {
		out[i] = strings.Repeat(" ", max(w, 0))
	}
	return out
}

// middle places a drawing of mw cells in the middle of w × h.
func middle(lines []string, mw, w, h int) (x, y int) {
	return max((w-mw)/2, 0), max((h-len(lines))/2, 0)
}
