package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// maxLines bounds what is wrapped for one text; the rest is named, not shown.
const maxLines = 2000

// wrap makes a foreign text safe and breaks it into lines of at most w cells, at
// spaces where there are any.
func wrap(text string, w int) []string {
	if w <= 0 {
		return nil
	}
	text = safe.Block(strings.TrimRight(text, "\n"))
	lines := strings.Split(ansi.Wrap(text, w, ""), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	return lines
}

// piece is a stretch of safe text in one ink.
type piece struct {
	text string
	ink  ink
}

// fold breaks a line of pieces into lines of at most w cells. Lines after the
// first are set in by so many cells.
func fold(pieces []piece, w, indent int) []string {
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
			head := ansi.Truncate(text, w-used, "")
			if head == "" { // a wide character and one cell left
				if used <= indent {
					break
				}
				used = w
				continue
			}
			b.WriteString(p.ink.draw(head))
			used += safe.Width(head)
			text = text[len(head):]
		}
	}
	return append(lines, b.String())
}
