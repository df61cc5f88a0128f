package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/ui/term"
)

// pieces are what names and errors of the worst kind are made of.
var pieces = []string{
	"a", "7", " ", "é", "e\u0301", "\u0301", "你", "好", "ｶ", "ﾞ", "👩🏾‍💻", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇨🇭", "🇨", "🏾", "\u200d", "\ufe0f", "ᄀ", "ᅡ", "ำ",
	"z" + strings.Repeat("\u0301", 500), "\x1b[31m", "\x1b[7m", "\x1b[0m", "\x1b]8;;http://x\x07", "\u202e", "\u009b", "\n", "\t", "\xff", "│", "…",
}

func worst(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(40) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}

// CASES "Cut styled text" and "Wide text": whatever is shown, and wherever it is cut, on
// every page and with every dialog open: no line takes its colours to the next, nothing
// within is in the colours of what stands beside it, borders stand where they belong, and
// every line ends in the last column.
func TestColoursAndColumnsHoldWhateverIsCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			w := newWorld()
			w.poison(worst(random))
			if seed%2 == 1 {
				w.poisonInTurn()
			}
			s := newStage(t, w, 120, 36)
			s.app.clustered = seed < 2
			everyScreen(s, func() {
				s.send(tea.WindowSizeMsg{Width: leastWidth + random.IntN(100), Height: leastHeight + random.IntN(30)})
				contained(t, s)
				s.send(tea.WindowSizeMsg{Width: 120, Height: 36})
			})
		})
	}
}

// contained fails where a colour leaves its place, or a border is not at its.
func contained(t *testing.T, s *stage) {
	t.Helper()
	lines := strings.Split(s.app.View().Content, "\n")
	for y, line := range lines {
		if n := ansi.StringWidth(line); n != s.app.w {
			t.Fatalf("line %d is %d cells wide in a window of %d: %q", y, n, s.app.w, line)
		}
		if at := strings.LastIndex(line, "\x1b["); at >= 0 && !strings.HasPrefix(line[at:], "\x1b[m") && !strings.HasPrefix(line[at:], "\x1b[0m") {
			t.Fatalf("the colours of line %d go on behind it: %q", y, line)
		}
	}
	f := s.screen()
	top := s.app.dialogs.Top()
	if top == nil {
		if s.app.w >= wideWidth && len(s.app.over) == 0 {
			from, to := border(f, 0)
			sides(t, f, 0, f.Width-1, from, to)
		}
		return
	}
	name, _, _ := strings.Cut(safe.Text(top.Heading().name), " ")
	x, y, ok := f.Find("╭▸ " + name)
	if !ok {
		t.Fatalf("no dialog %q on\n%s", name, f.Text())
	}
	right := x
	for right < f.Width-1 && f.Cell(right, y).Content != "╮" {
		right++
	}
	bottom := y
	for bottom < f.Height && f.Cell(x, bottom).Content != "╰" {
		bottom++
	}
	sides(t, f, x, right, y+1, bottom-1)
	for at := x; at <= right; at++ { // the lower edge is whole, in one colour
		if c := f.Cell(at, bottom); c == nil || !c.Style.Equal(&f.Cell(x, bottom).Style) {
			t.Fatalf("the lower edge of %q is not of one piece in line %d:\n%s", name, bottom, f.Text())
		}
	}
}

// border returns between which lines a border goes down a column.
func border(f *term.Frame, x int) (from, to int) {
	from, to = -1, -1
	for y := range f.Height {
		if f.Cell(x, y).Content == "│" {
			if from < 0 {
				from = y
			}
			to = y
		}
	}
	return from, to
}

// sides looks whether a box has its sides, each a border in the colour of a border.
func sides(t *testing.T, f *term.Frame, left, right, from, to int) {
	t.Helper()
	for y := max(from, 0); y <= to && y < f.Height; y++ {
		for _, x := range []int{left, right} {
			switch c := f.Cell(x, y); {
			case !strings.Contains("│╭╮╰╯", c.Content):
				t.Fatalf("%q at %d of line %d, where a border belongs:\n%s", c.Content, x, y, f.Text())
			case c.Style.Bg != nil || c.Style.Attrs&^(uv.AttrBold|uv.AttrFaint) != 0:
				t.Fatalf("the border at %d of line %d has the colours of something else, %+v:\n%s", x, y, c.Style, f.Text())
			}
		}
	}
}

// Columns too narrow for anything hold nothing too wide, whatever there is to hold.
func TestNarrowColumnsHoldWhatTheyCan(t *testing.T) {
	t.Parallel()
	theme := newTheme(true, false)
	random := rand.New(rand.NewPCG(3, 7))
	for w := range 4 {
		g := grid{columns: []column{{}, {right: true}, {}}, widths: []int{w, w, w}, gap: 1}
		want := max(3*w+2, 0)
		if w == 0 {
			want = 0 // they are left out
		}
		for i := range 400 {
			text := worst(random)
			if i < len(hostile) {
				text = hostile[i]
			}
			row := g.row([]cell{{text: text, ink: theme.bad}, {text: text, ink: theme.tab}, {text: text, ink: theme.good}})
			if got := ansi.StringWidth(row); got != want {
				t.Fatalf("%q in columns of %d: %d cells, want %d: %q", text, w, got, want, row)
			}
			for _, lit := range []bool{false, true} {
				if line := theme.lineOf(row, 20, lit, lit); ansi.StringWidth(line) != 20 || w > 0 && !strings.HasSuffix(strings.TrimRight(line, " "), "\x1b[m") {
					t.Fatalf("%q in columns of %d: the line is %q", text, w, line)
				}
			}
		}
	}
}
