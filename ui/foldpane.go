package ui

import (
	"slices"
)

// foldRow is a line of finished text in a pane, and what can be opened or closed there.
type foldRow struct {
	line  string
	fold  int64 // what opens and closes here; 0 nothing
	place int64 // where in the text it is, ascending: the cursor stays there through a new layout
}

// foldPane is lines of text with a cursor, parts of which can be folded. Its owner
// lays the rows out, and knows what is folded.
type foldPane struct {
	name, rest, note string
	must             string // what of the note is said where there is no room for all
	rows             []foldRow
	at, top, height  int
	lit              bool
}

// SetRows takes the text; the cursor stays at its place in it.
func (x *foldPane) SetRows(rows []foldRow) {
	if x.at < len(x.rows) && x.at > 0 {
		place := x.rows[x.at].place
		if x.at >= len(rows) || rows[x.at].place != place {
			at := slices.IndexFunc(rows, func(r foldRow) bool { return r.place > place })
			if at < 0 {
				at = len(rows)
			}
			x.top += max(at-1, 0) - x.at
			x.at = max(at-1, 0)
		}
	}
	x.rows = rows
	x.clamp()
}

func (x *foldPane) clamp() {
	x.at = max(min(x.at, len(x.rows)-1), 0)
	x.top = max(min(x.top, len(x.rows)-x.height), 0)
}

// Fold is what opens or closes at the cursor; 0 nothing.
func (x *foldPane) Fold() int64 {
	if x.at < len(x.rows) {
		return x.rows[x.at].fold
	}
	return 0
}

// Show takes nothing from the picture: the owner sets the rows.
func (x *foldPane) Show(*picture) {}

// Focus shows the cursor, or takes it away.
func (x *foldPane) Focus(on bool) { x.lit = on }

// Heading names the pane, and says how much is below.
func (x *foldPane) Heading() heading {
	h := heading{name: x.name, rest: x.rest, note: x.note, must: x.must}
	if below := len(x.rows) - x.top - x.height; x.height > 0 && below > 0 && h.note == "" {
		h.note = plural(below, "line") + " below"
	}
	return h
}

// Move moves the cursor.
func (x *foldPane) Move(m motion) {
	half := max(x.height/2, 1)
	x.at += map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -len(x.rows), toBottom: len(x.rows)}[m]
	x.clamp()
}

// View draws the window, the cursor in it.
func (x *foldPane) View(w, h int) []string {
	if w < 2 || h < 1 {
		return nil
	}
	x.height = h
	x.top = max(min(x.top, x.at), x.at-h+1)
	x.clamp()
	lines := make([]string, 0, h)
	for i := x.top; i < min(x.top+h, len(x.rows)); i++ {
		front := " "
		if x.lit && i == x.at {
			front = "▸"
		}
		lines = append(lines, front+x.rows[i].line)
	}
	return lines
}
