package term

import (
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Frame is what a screen showed at one moment.
type Frame struct {
	Width, Height          int
	Foreground, Background color.Color  // of cells that set none
	Title                  string       // of the window
	Cursor                 *uv.Position // nil when hidden

	lines []uv.Line // row by row; the second cell of a wide character has width 0
	wrong []error
}

func newFrame(s interface{ CellAt(x, y int) *uv.Cell }, width, height int) *Frame {
	lines := make([]uv.Line, height)
	for y := range height {
		lines[y] = make(uv.Line, width)
		for x := range width {
			lines[y][x] = uv.EmptyCell
			if c := s.CellAt(x, y); c != nil {
				lines[y][x] = *c
			}
		}
	}
	return frameOf(lines, width, height)
}

// frameOf is a frame of what is on a screen.
func frameOf(lines []uv.Line, width, height int) *Frame {
	f := &Frame{Width: width, Height: height, lines: lines}
	f.Foreground, f.Background = Dark()
	return f
}

// Render shows a view, the styled string a Bubble Tea model draws, on a screen
// of width × height, as the program would. What does not fit is not shown but
// reported by [Frame.Err].
func Render(view string, width, height int) *Frame {
	lines := strings.Split(view, "\n")
	screen := uv.NewScreenBuffer(width, height)
	screen.Method = ansi.GraphemeWidth
	uv.NewStyledString(view).Draw(screen, screen.Bounds())
	f := frameOf(screen.Lines, width, height)
	if len(lines) > height {
		f.wrong = append(f.wrong, fmt.Errorf("%d lines on a screen of %d", len(lines), height))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			f.wrong = append(f.wrong, fmt.Errorf("line %d is %d cells wide on a screen of %d: %q", i+1, n, width, ansi.Strip(line)))
		}
		if strings.ContainsAny(ansi.Strip(line), "\a\b\t\r\v\f\x1b\x7f") {
			f.wrong = append(f.wrong, fmt.Errorf("line %d holds a control character: %q", i+1, line))
		}
	}
	return f
}

// Err says what of a rendered view did not fit the screen, nil if all did.
func (f *Frame) Err() error { return errors.Join(f.wrong...) }

// Equal reports whether both frames look the same: cells, cursor and title.
func (f *Frame) Equal(other *Frame) bool {
	if f.Width != other.Width || f.Height != other.Height || f.Title != other.Title ||
		f.Foreground != other.Foreground || f.Background != other.Background ||
		(f.Cursor == nil) != (other.Cursor == nil) || f.Cursor != nil && *f.Cursor != *other.Cursor {
		return false
	}
	return slices.EqualFunc(f.lines, other.lines, func(a, b uv.Line) bool {
		return slices.EqualFunc(a, b, func(a, b uv.Cell) bool { return a.Equal(&b) })
	})
}

// Cell returns a cell, nil outside the screen.
func (f *Frame) Cell(x, y int) *uv.Cell {
	if x < 0 || y < 0 || x >= f.Width || y >= f.Height {
		return nil
	}
	return &f.lines[y][x]
}

// Line returns the text of one line, trimmed on the right.
func (f *Frame) Line(y int) string {
	var b strings.Builder
	for x := 0; x < f.Width; {
		c := f.Cell(x, y)
		if c.Content == "" {
			b.WriteByte(' ')
		} else {
			b.WriteString(c.Content)
		}
		x += max(c.Width, 1)
	}
	return strings.TrimRight(b.String(), " ")
}

// Lines returns the text of all lines, trimmed on the right.
func (f *Frame) Lines() []string {
	lines := make([]string, f.Height)
	for y := range lines {
		lines[y] = f.Line(y)
	}
	return lines
}

// Text returns the lines as one string, without empty lines at the end.
func (f *Frame) Text() string { return strings.TrimRight(strings.Join(f.Lines(), "\n"), "\n") }

// Find returns the cell where text begins, line by line.
func (f *Frame) Find(text string) (x, y int, ok bool) {
	for y, line := range f.Lines() {
		if before, _, found := strings.Cut(line, text); found {
			return ansi.StringWidth(before), y, true
		}
	}
	return 0, 0, false
}
