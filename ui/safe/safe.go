// Package safe makes text that strangers wrote fit to be shown in a terminal.
//
// A payload, an error, a queue's name or a worker's name is whatever somebody
// put into the table. Printed as it is, it can move the cursor, set the title,
// write the clipboard (OSC 52), turn the reading order round (U+202E), hide
// letters (zero-width and tag characters) or push every later column aside.
// [Text] and [Block] replace each such character by a visible mark: what was
// there can be read, and does nothing. The true value stays in the database
// and in every export; only its picture changes.
//
// The package also holds the one rule for how wide text is. [Width] is the
// measure lipgloss lays out with (one cell count per grapheme cluster), and
// [Fit] cuts or pads to exactly so many cells. A terminal that advances rune
// by rune disagrees with that measure about a few clusters; [Unclustered]
// rewrites a finished frame for such a terminal.
package safe

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// maxMarks is how many combining marks in a row a letter keeps. The
	// deepest stacks of living scripts (pointed Hebrew, Tibetan) stay below;
	// a stack of hundreds paints over the lines above.
	maxMarks = 4
	// maxLetters is how many joined letters one cluster keeps. Without a limit
	// a megabyte of Hangul or Indic joiners is one cluster in one cell.
	maxLetters = 8
	// tabWidth is the distance of tab stops in a Block.
	tabWidth = 4
	// stretch is how much is looked at ahead, so that fitting the start of a
	// megabyte into a column does not read the megabyte.
	stretch = 256
	// cut stands where something was left out.
	cut = "…"
)

// Text returns s as one line of harmless, visible text. Controls become
// control pictures (␛ ␍ ␊ ␉ ␡) or ‹U+009B›; bidirectional, zero-width, tag and
// other invisible characters become ‹U+202E›; bytes that are no UTF-8 become
// U+FFFD; stacks of combining marks are cut short with "…". Well-formed emoji
// sequences (👩🏾‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇨🇭) stay whole. Every cluster of the result is
// at least one cell wide, and Text(Text(s)) == Text(s).
//
// Printable ASCII is returned as it is, without allocating.
func Text(s string) string {
	if printable(s) == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		var piece string
		piece, s = next(s)
		b.WriteString(piece)
	}
	return b.String()
}

// Block is [Text] for several lines: line feeds stay (CR LF counts as one) and
// tabs become spaces up to the next multiple of four cells.
func Block(s string) string {
	if !strings.ContainsAny(s, "\n\t") {
		return Text(s)
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for {
		line, rest, more := strings.Cut(s, "\n")
		if more {
			line = strings.TrimSuffix(line, "\r")
		}
		for column := 0; ; {
			field, after, tab := strings.Cut(line, "\t")
			field = Text(field)
			b.WriteString(field)
			if !tab {
				break
			}
			column += Width(field)
			n := tabWidth - column%tabWidth
			pad(&b, n)
			column += n
			line = after
		}
		if !more {
			return b.String()
		}
		b.WriteByte('\n')
		s = rest
	}
}

// printable returns the length of the leading run of printable ASCII in s.
func printable(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// next takes the first stretch off s: a run of printable ASCII or one grapheme
// cluster. It returns the stretch made safe and what follows it. Concatenated
// pieces cluster as the pieces do: whatever could join its neighbour is either
// kept with it or replaced by a mark, which joins nothing.
func next(s string) (piece, rest string) {
	if n := printable(s[:min(len(s), stretch)]); n == len(s) {
		return s, ""
	} else if n > 1 {
		// The last letter may be the base of a mark that follows it.
		return s[:n-1], s[n-1:]
	}
	cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if len(cluster) == 0 { // never seen; but a hang would be worse than a mark
		_, n := utf8.DecodeRuneInString(s)
		cluster = s[:n]
	}
	rest = s[len(cluster):]
	if plain(cluster) || emoji(cluster) {
		return cluster, rest
	}
	return reveal(cluster), rest
}

// plain reports whether the cluster is one ordinary rune.
func plain(cluster string) bool {
	r, n := utf8.DecodeRuneInString(cluster)
	return n == len(cluster) && !hidden(r) && !joins(r) && !trailing(r) && (r != utf8.RuneError || n > 1)
}

// reveal spells out a cluster that is neither one plain rune nor an emoji.
func reveal(cluster string) string {
	var b strings.Builder
	letters, marks := 0, 0
	based := false   // something stands before, for marks to sit on
	last := rune(-1) // the rune before, if it was shown as it is
	for _, r := range cluster {
		switch {
		case hidden(r), trailing(r) && !unicode.Is(unicode.Hangul, last):
			b.WriteString(mark(r))
			based, marks, last = true, 0, -1
		case joins(r):
			marks++
			if marks > maxMarks {
				if marks == maxMarks+1 {
					b.WriteString(cut)
				}
				continue
			}
			if !based {
				// A mark without a base would sit on whatever the screen has
				// to its left: a border, another column.
				b.WriteRune('◌')
				based = true
			}
			b.WriteRune(r)
			last = r
		default: // a letter, or U+FFFD in place of a byte that is no UTF-8
			letters++
			if letters > maxLetters {
				b.WriteString(cut)
				return b.String()
			}
			b.WriteRune(r)
			based, marks, last = true, 0, r
		}
	}
	return b.String()
}
