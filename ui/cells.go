package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// fitLine makes a line of our own drawing exactly w cells wide. Nearly all lines
// are within their width already, and to know that takes a tenth of the time
// that cutting takes; this is the innermost loop of every frame.
func fitLine(s string, w int) string {
	switch n := cells(s); {
	case n == w:
		return s
	case n < w:
		return s + strings.Repeat(" ", w-n)
	}
	return safe.FitStyled(s, w)
}

// cells is how wide a line of our own drawing is: safe text and colours. It
// agrees with safe.Width (a test compares them).
func cells(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] == '\x1b' { // a colour: our inks have no other sequences
			end := strings.IndexByte(s[i:], 'm')
			if end < 0 {
				return n + ansi.StringWidth(s[i:])
			}
			i += end + 1
			continue
		}
		if size := simple(s[i:]); size > 0 && (i+size == len(s) || s[i+size] == '\x1b' || simple(s[i+size:]) > 0) {
			n++
			i += size
			continue
		}
		cluster, width := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		n += width
		i += max(len(cluster), 1)
	}
	return n
}

// simple returns the length of the character that s begins with, if it takes one
// cell and joins nothing: printable ASCII, and what we draw with.
func simple(s string) int {
	if s[0] < 0x80 {
		if s[0] >= ' ' && s[0] < 0x7f {
			return 1
		}
		return 0
	}
	if s[0] != 0xe2 && s[0] != 0xc2 {
		return 0
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r >= 0x2500 && r <= 0x259f, // lines and blocks
		r == '·', r == '–', r == '…', r == '→', r == '✓', r == '✗', r == '▸', r == '◆', r == '●', r == '○', r == '▮', r == '▯':
		return size
	}
	return 0
}
