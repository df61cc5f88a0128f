package ui

import (
	"strings"
	"unicode/utf8"

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

// pretty breaks a JSON text into lines of pieces. It works on tokens, not on
// values: numbers stay as they are written (1970670598291982290, 1e400, -0),
// and a text that was cut in the middle, or is no JSON at all, still shows as
// far as it goes.
func pretty(text string, t *theme) [][]piece {
	p := printer{t: t}
	for text != "" && len(p.lines) < maxLines {
		text = p.token(text)
	}
	p.end()
	return p.lines
}

type printer struct {
	t     *theme
	lines [][]piece
	line  []piece
	depth int
	fresh bool // nothing on the line but its indent
	empty bool // a bracket was just opened
}

func (p *printer) put(text string, k ink) {
	p.line = append(p.line, piece{safe.Text(text), k})
	p.fresh, p.empty = false, false
}

// end closes the line and sets the next one in.
func (p *printer) end() {
	if len(p.line) > 0 && !p.fresh {
		p.lines = append(p.lines, p.line)
	}
	p.line = []piece{{strings.Repeat(" ", payloadIndent*min(max(p.depth, 0), payloadDepth)), ink{}}}
	p.fresh = true
}

// token takes one token off the text and draws it.
func (p *printer) token(text string) string {
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
			p.end()
		}
		p.put(text[:1], p.t.dim)
		return text[1:]
	case ',':
		p.put(",", p.t.dim)
		p.end()
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
	p.end()
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
