package ui

import (
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// helpDialog lists every key that means something on the screen below it, and
// why those that do nothing do nothing. It is made from the same actions that
// the keyboard uses.
type helpDialog struct {
	sections []helpSection
	top      int
	height   int
	length   int
}

type helpSection struct {
	title   string
	actions []action
	notes   []string
}

// Heading is the dialog's title.
func (d *helpDialog) Heading() heading {
	h := heading{name: "KEYS"}
	if d.height > 0 && d.length > d.height {
		h.note = "j k scroll"
	}
	return h
}

// Grave is not set.
func (d *helpDialog) Grave() bool { return false }

// Keys has none of its own: esc closes it.
func (d *helpDialog) Keys(*app) []action { return nil }

// Move scrolls.
func (d *helpDialog) Move(m motion) {
	half := max(d.height/2, 1)
	d.top += map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -d.length, toBottom: d.length}[m]
	d.clamp()
}

func (d *helpDialog) clamp() { d.top = max(min(d.top, d.length-d.height), 0) }

// Lines draws the list.
func (d *helpDialog) Lines(t *theme, w, h int, _ bool) []string {
	var lines []string
	for i, s := range d.sections {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.strong.draw(s.title))
		for _, note := range s.notes {
			for _, line := range wrap(note, w-2) {
				lines = append(lines, "  "+t.dim.draw(line))
			}
		}
		for _, a := range s.actions {
			names := make([]string, len(a.keys))
			for i, k := range a.keys {
				names[i] = spell(k)
			}
			keys := safe.Fit(strings.Join(names, " "), 11)
			keyInk, textInk := t.accent, t.text
			var why []string
			if a.why != "" {
				keyInk, textInk, why = t.dim, t.dim, wrap(a.why, w-16)
			}
			for i, line := range wrap(a.help, w-14) {
				if i > 0 {
					keys = strings.Repeat(" ", 11)
				}
				lines = append(lines, "  "+keyInk.draw(keys)+" "+textInk.draw(line))
			}
			for _, line := range why {
				lines = append(lines, strings.Repeat(" ", 14)+t.warn.draw("! "+line))
			}
		}
	}
	d.height, d.length = h, len(lines)
	d.clamp()
	return lines[d.top:min(d.top+h, len(lines))]
}
