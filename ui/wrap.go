package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// What is wrapped of one text is bounded; the rest is left out.
const (
	maxLines = 2000
	maxText  = 64 << 10
)

// wrap makes a foreign text safe and breaks it into lines of at most w cells, at
// spaces where there are any.
func wrap(text string, w int) []string {
	return wrapSafe(block(text), w)
}

// block makes a foreign text safe, as much of it as may be wrapped.
func block(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return safe.Block(strings.TrimRight(text, "\n"))
}

// wrapSafe breaks a text that is safe already, and may have colours, into lines.
func wrapSafe(text string, w int) []string {
	lines, more := wrapLines(text, w)
	if more > 0 {
		lines = append(lines, "… "+plural(more, "line")+" more")
	}
	return lines
}

// wrapLines is wrapSafe that says how many lines there are beyond those that are returned.
func wrapLines(text string, w int) (lines []string, more int) {
	if w <= 0 {
		return nil, 0
	}
	lines = strings.Split(ansi.Wrap(text, w, ""), "\n")
	if len(lines) > maxLines {
		return lines[:maxLines], len(lines) - maxLines
	}
	return lines, 0
}

// piece is a stretch of safe text in one ink.
type piece struct {
	text string
	ink  ink
}

// foldLine breaks a line of pieces into lines of at most w cells. Lines after the
// first are set in by so many cells.
func foldLine(pieces []piece, w, indent int) []string {
	if w <= 0 {
		return nil
	}
	if indent > w/2 {
		indent = 0
	}
	var lines []string
	var b strings.Builder
	used := 0
	for _, p := range pieces {
		for text := p.text; text != ""; {
			if used >= w {
				lines = append(lines, b.String())
				b.Reset()
				b.WriteString(strings.Repeat(" ", indent))
				used = indent
			}
			n, cells := head(text, w-used)
			if n == 0 { // a wide character, and one cell left
				if used <= indent {
					break
				}
				used = w
				continue
			}
			b.WriteString(p.ink.draw(text[:n]))
			used += cells
			text = text[n:]
		}
	}
	return append(lines, b.String())
}

// head measures the part of a safe text that fits into w cells. It looks at no
// more than that part.
func head(text string, w int) (n, cells int) {
	for n < len(text) && cells < w {
		if text[n] < 0x80 && (n+1 == len(text) || text[n+1] < 0x80) {
			n++
			cells++
			continue
		}
		cluster, width := ansi.FirstGraphemeCluster(text[n:], ansi.GraphemeWidth)
		if cells+width > w {
			break
		}
		n += len(cluster)
		cells += width
	}
	return n, cells
}
