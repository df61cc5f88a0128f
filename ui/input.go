package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// typedMost is how many bytes can be typed.
const typedMost = 1000

// input is a line that the operator types. It holds whatever was pasted, and is made
// safe only where it is drawn.
type input struct {
	text string
	at   int  // where the next letter goes: a byte of text, between two characters
	full bool // the last that was typed or pasted found no room
}

// typist is a page, or a dialog, in which a line can be typed.
type typist interface {
	Input() *input // nil while nothing is being typed
	Typed()        // it was changed
	Move(m motion)
}

// typing is the page, or the dialog in front of it, in which a line is being typed; nil
// when in none.
func (a *app) typing() typist {
	var front any = a.page()
	if top := a.dialogs.Top(); top != nil {
		front = top
	}
	if t, ok := front.(typist); ok && t.Input() != nil {
		return t
	}
	return nil
}

// besides are the keys that move the cursor of a list even while something is typed.
var besides = []string{"up", "down", "pgup", "pgdown"}

// typed is a key, or something pasted, for the line that is being typed.
func (a *app) typed(k tea.KeyPressMsg) {
	t := a.typing()
	if slices.Contains(besides, k.String()) {
		t.Move(motions[k.String()])
		return
	}
	before := t.Input().text
	t.Input().Press(k)
	if t.Input().text != before {
		t.Typed()
	}
}

// pasted is text for the line that is being typed. Where none is, nothing acts on it.
func (a *app) pasted(text string) {
	if t := a.typing(); t != nil {
		t.Input().Put(text)
		t.Typed()
	}
}

// Press takes a key.
func (in *input) Press(k tea.KeyPressMsg) {
	in.full = false
	switch k.String() {
	case "left", "ctrl+b":
		in.at = in.before()
	case "right", "ctrl+f":
		in.at = in.after()
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		in.cut(in.before(), in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, in.after())
	case "ctrl+w", "alt+backspace":
		in.cut(strings.LastIndexByte(strings.TrimRight(in.text[:in.at], " "), ' ')+1, in.at)
	case "ctrl+u":
		in.cut(0, in.at)
	case "ctrl+k":
		in.cut(in.at, len(in.text))
	case "space":
		in.Put(" ")
	default:
		in.Put(k.Text)
	}
}

// Put takes what was typed or pasted, where there is room for all of it. It is one
// line: ends of lines and tabs become blanks.
func (in *input) Put(text string) {
	if in.full = len(in.text)+len(text) > typedMost; in.full {
		return
	}
	text = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text)
	rest := in.text[in.at:]
	in.text = in.text[:in.at] + text + rest
	in.at = in.edge(len(in.text) - len(rest))
}

// Digits leaves only digits, and the letters of also, of what was typed.
func (in *input) Digits(also string) {
	kept := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune(also, r) {
			return r
		}
		return -1
	}, in.text)
	if len(kept) > 9 {
		kept = kept[:9]
	}
	if kept != in.text {
		in.text, in.at = kept, len(kept)
	}
}

func (in *input) cut(from, to int) {
	in.text = in.text[:from] + in.text[to:]
	in.at = in.edge(from)
}

// edges calls each with the bytes between which a character stands, until it says no.
func (in *input) edges(each func(from, to int) bool) {
	for from := 0; from < len(in.text); {
		cluster, _ := ansi.FirstGraphemeCluster(in.text[from:], ansi.GraphemeWidth)
		to := from + max(len(cluster), 1)
		if !each(from, to) {
			return
		}
		from = to
	}
}

// before is where the character before the cursor begins, after where the next ends.
func (in *input) before() (at int) {
	in.edges(func(from, to int) bool { at = from; return to < in.at })
	return min(at, in.at)
}

func (in *input) after() int { return in.edge(in.at + 1) }

// edge is the first place between characters that is not before at.
func (in *input) edge(at int) (edge int) {
	in.edges(func(_, to int) bool {
		if at > edge {
			edge = to
		}
		return edge < at
	})
	return edge
}

// View draws the line in w cells, the cursor always among them.
func (in *input) View(t *theme, w int) string {
	line, _, _ := in.Marked(t, w, 0, 0)
	return line
}

// Marked draws the line as View does, with the bytes between from and to as a mistake, and
// returns in which cells these stand: at is before the first or behind the last cell where
// they are not in sight.
func (in *input) Marked(t *theme, w, from, to int) (line string, at, wide int) {
	if w <= 0 {
		return "", 0, 0
	}
	to = in.edge(min(to, len(in.text)))
	from = in.floor(min(from, to))
	next := in.after()
	var b strings.Builder
	cuts := []int{0, from, to, in.at, next, len(in.text)}
	slices.Sort(cuts)
	for i, begin := range cuts[:len(cuts)-1] {
		text := safe.Text(in.text[begin:cuts[i+1]])
		switch {
		case begin == in.at:
			b.WriteString(t.tab.draw(text))
		case from <= begin && begin < to:
			b.WriteString(t.alarm.draw(text))
		default:
			b.WriteString(t.strong.draw(text))
		}
	}
	width := func(from, to int) int { return safe.Width(safe.Text(in.text[from:to])) }
	under := max(width(in.at, next), 1)
	if in.at == len(in.text) {
		b.WriteString(t.tab.draw(" "))
	}
	line, at, wide = b.String(), width(0, from), width(from, to)
	if over := width(0, in.at) + under - w; over > 0 {
		line = ansi.TruncateLeft(line, over+1, "…")
		at -= over
		if at < 0 {
			at, wide = 0, max(wide+at, 0)
		}
	}
	return safe.FitStyled(line, w), at, wide
}

// floor is the last place between characters that is not behind at.
func (in *input) floor(at int) (floor int) {
	in.edges(func(_, to int) bool {
		if to <= at {
			floor = to
		}
		return to < at
	})
	return floor
}
