package ui

import (
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// column is one column of a table: how wide it may be and how soon it goes when
// the window is too narrow for all.
type column struct {
	title string
	min   int  // cells it needs to be of use
	max   int  // cells it can use; 0 is min
	right bool // numbers
	grows bool // takes what is left over, when the others have what they can use
	rank  int  // columns of the highest rank go first; 0 never goes
	out   bool // there is nothing to show in it
	need  int  // cells with less than which its numbers are rounded; 0: there are none
}

// dispensable is the rank from which on columns go before a number is rounded.
const dispensable = 5

// cell is what stands in one column of one row: text in an ink, made safe and
// fitted here, or something that paints itself in exactly w cells.
type cell struct {
	text  string
	ink   ink
	paint func(w int) string
}

// grid is the widths that columns get in a window; 0 is left out.
type grid struct {
	columns []column
	widths  []int
	gap     int
}

// arrange fits the columns into w cells: columns are left out from the highest
// rank on until the others fit at their least width, then what is left over
// goes to those that can use it, left to right: so that no number need be rounded, first
// of all. For that the dispensable ones go as well.
func arrange(columns []column, w int) grid {
	g := grid{columns: columns, widths: make([]int, len(columns)), gap: 1}
	out := make([]bool, len(columns))
	for i, c := range columns {
		out[i] = c.out
	}
	least := func(gap int, exact bool) int {
		sum := -gap
		for i, c := range columns {
			if !out[i] {
				sum += pick(exact, max(c.min, c.need), c.min) + gap
			}
		}
		return sum
	}
	for _, from := range []int{dispensable, 1} {
		for least(1, from == dispensable) > w {
			worst := -1
			for i, c := range columns {
				if !out[i] && c.rank >= from && (worst < 0 || c.rank >= columns[worst].rank) {
					worst = i
				}
			}
			if worst < 0 {
				break
			}
			out[worst] = true
		}
	}
	full := 0 // what the columns can use, beyond their least
	for i, c := range columns {
		if !out[i] && !c.grows {
			full += max(c.max-c.min, 0)
		}
	}
	if least(2, false)+full <= w {
		g.gap = 2
	}
	spare := w - least(g.gap, false)
	for i, c := range columns {
		if !out[i] {
			g.widths[i] = c.min
		}
	}
	for _, upTo := range []func(c column) int{
		func(c column) int { return c.need },
		func(c column) int { return pick(c.grows, 0, c.max) },
		func(c column) int { return c.max },
	} {
		for i, c := range columns {
			if more := min(upTo(c)-g.widths[i], spare); !out[i] && more > 0 {
				g.widths[i] += more
				spare -= more
			}
		}
	}
	return g
}

// row draws cells in the grid.
func (g grid) row(cells []cell) string {
	var b strings.Builder
	first := true
	for i, w := range g.widths {
		if w == 0 {
			continue
		}
		if !first {
			b.WriteString("  "[:g.gap])
		}
		first = false
		if i >= len(cells) {
			b.WriteString(strings.Repeat(" ", w))
			continue
		}
		c := cells[i]
		switch {
		case c.paint != nil:
			b.WriteString(c.paint(w))
		case g.columns[i].right:
			b.WriteString(c.ink.draw(safe.FitRight(c.text, w)))
		default:
			b.WriteString(c.ink.draw(safe.Fit(c.text, w)))
		}
	}
	return b.String()
}

// header draws the columns' titles.
func (g grid) header(k ink) string {
	cells := make([]cell, len(g.columns))
	for i, c := range g.columns {
		cells[i] = cell{text: c.title, ink: k}
	}
	return g.row(cells)
}

// widest returns how wide a column must be for these texts, between lo and hi.
func widest(lo, hi int, texts func(yield func(string) bool)) int {
	w := lo
	for s := range texts {
		if w = max(w, safe.Width(safe.Text(s[:min(len(s), 4*hi)]))); w >= hi {
			return hi
		}
	}
	return w
}

// lineOf draws one row of a list in w cells: the cursor in front, the background
// of the cursor's row under all. Rows that can be marked begin with a blank, which
// gives way to the mark, so that cursor and mark show both, without colour too.
func (t *theme) lineOf(row string, w int, cursor, marked bool) string {
	front := " "
	if cursor {
		front = t.lead.draw("▸")
	}
	if marked {
		front += t.accent.draw("◆")
		row = strings.TrimPrefix(row, " ")
	}
	line := fitLine(front+row, w)
	if cursor {
		return t.row.wash(line)
	}
	return line
}
