package ui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// A payload's picture is bounded whatever the payload is: the database cuts the
// text, and deep nesting stops being set in, since ten thousand levels would
// make spaces by the square of it.
const (
	payloadCharacters = 16 << 10
	payloadDepth      = 12
	payloadIndent     = 2
)

// jsonLine is one line of a JSON text that was spread over lines.
type jsonLine struct {
	pieces []piece // its indent first
	depth  int
	at     int // where in the text it begins
	opens  bool
	closes bool
	end    int // of a line that opens something: the line that closes it, or how many lines there are
	inside int // how many members that has
}

// pretty breaks a JSON text into lines of pieces. It works on tokens, not on
// values: numbers stay as they are written (1970670598291982290, 1e400, -0),
// and a text that was cut in the middle, or is no JSON at all, still shows as
// far as it goes.
func pretty(text string, t *theme) []jsonLine {
	p := printer{t: t, whole: len(text)}
	p.end(len(text))
	for text != "" && len(p.lines) < maxLines {
		text = p.token(text)
	}
	p.end(0)
	match(p.lines)
	return p.lines
}

// match finds for each line that opens something where that is closed.
func match(lines []jsonLine) {
	var open []int
	for i := range lines {
		if lines[i].closes && len(open) > 0 {
			lines[open[len(open)-1]].end = i
			open = open[:len(open)-1]
		} else if len(open) > 0 {
			lines[open[len(open)-1]].inside++
		}
		if lines[i].opens {
			lines[i].end = len(lines)
			open = append(open, i)
		}
	}
}

// folding says which parts of a payload are folded: those from a depth on, but for
// those that were turned one by one.
type folding struct {
	level  int // 0: none
	turned map[int64]bool
}

// payloadLevels is how many levels the whole can be folded to, one after the other.
const payloadLevels = 2

// Next folds the whole to one level, to two, and not at all.
func (f *folding) Next() { *f = folding{level: (f.level + 1) % (payloadLevels + 1)} }

// Turn folds what is open, and opens what is folded.
func (f *folding) Turn(fold int64) {
	if f.turned == nil {
		f.turned = map[int64]bool{}
	}
	f.turned[fold] = !f.turned[fold]
}

func (f *folding) folded(l *jsonLine) bool {
	return (f.level > 0 && l.depth >= f.level) != f.turned[int64(l.at)+1]
}

// payloadRows lays out a payload in w cells, with what is folded on one line.
func payloadRows(lines []jsonLine, f *folding, t *theme, w int) []foldRow {
	var rows []foldRow
	for i := 0; i < len(lines); i++ {
		l := &lines[i]
		pieces, fold := l.pieces, int64(0)
		if l.opens {
			fold = int64(l.at) + 1
			if f.folded(l) {
				pieces = append(pieces[:len(pieces):len(pieces)], piece{" … " + strconv.Itoa(l.inside) + " ", t.warn})
				if l.end < len(lines) {
					pieces = append(pieces, lines[l.end].pieces[1:]...)
				}
				i = l.end
			}
		}
		indent := safe.Width(l.pieces[0].text) + payloadIndent
		for _, line := range foldLine(pieces, w, indent) {
			rows = append(rows, foldRow{line, fold, int64(l.at)})
		}
	}
	return rows
}

type printer struct {
	t     *theme
	whole int // bytes of the text
	lines []jsonLine
	line  jsonLine
	depth int
	fresh bool // nothing on the line but its indent
	empty bool // a bracket was just opened
}

func (p *printer) put(text string, k ink) {
	p.line.pieces = append(p.line.pieces, piece{safe.Text(text), k})
	p.fresh, p.empty = false, false
}

// end closes the line and sets the next one in, which begins so many bytes before the
// end of the text.
func (p *printer) end(left int) {
	if len(p.line.pieces) > 0 && !p.fresh {
		p.lines = append(p.lines, p.line)
	}
	depth := max(p.depth, 0)
	p.line = jsonLine{depth: depth, at: p.whole - left, pieces: []piece{{strings.Repeat(" ", payloadIndent*min(depth, payloadDepth)), ink{}}}}
	p.fresh = true
}

// token takes one token off the text and draws it.
func (p *printer) token(text string) string {
	if strings.HasPrefix(text, mask.Mask) {
		p.put(mask.Mask, p.t.warn)
		return text[len(mask.Mask):]
	}
	switch c := text[0]; c {
	case ' ', '\t', '\n', '\r':
		return text[1:]
	case '{', '[':
		p.put(text[:1], p.t.dim)
		p.depth++
		p.empty = true
		return p.opened(text[1:])
	case '}', ']':
		p.depth--
		if !p.empty {
			p.end(len(text))
			p.line.closes = true
		}
		p.put(text[:1], p.t.dim)
		return text[1:]
	case ',':
		p.put(",", p.t.dim)
		p.end(len(text) - 1)
		return text[1:]
	case ':':
		p.put(": ", p.t.dim)
		return text[1:]
	case '"':
		n := stringEnd(text)
		k := p.t.good
		if strings.HasPrefix(strings.TrimLeft(text[n:], " \t\r\n"), ":") {
			k = p.t.accent
		}
		p.put(text[:n], k)
		return text[n:]
	}
	n := strings.IndexAny(text, " \t\r\n{}[],:\"")
	if n < 0 {
		n = len(text)
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	p.put(text[:n], p.t.other)
	return text[n:]
}

// opened goes on after an opening bracket: an empty one is closed on the line.
func (p *printer) opened(text string) string {
	rest := strings.TrimLeft(text, " \t\r\n")
	if rest != "" && (rest[0] == '}' || rest[0] == ']') {
		return rest
	}
	p.line.opens = true
	p.end(len(rest))
	return rest
}

// stringEnd is the length of the JSON string that text begins with; all of the
// text when the string was cut.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
