package ui

import (
	"strings"

	"charm.land/bubbles/v2/viewport"
)

// textPane is lines of finished text that can be scrolled.
type textPane struct {
	name, rest, note string
	port             viewport.Model
}

// SetLines takes the text; the place in it stays where it can.
func (x *textPane) SetLines(lines []string) { x.port.SetContentLines(lines) }

// Show takes nothing from the picture: the owner sets the lines.
func (x *textPane) Show(*picture) {}

// Focus is shown by the border alone.
func (x *textPane) Focus(bool) {}

// Heading names the pane, and says how much is below.
func (x *textPane) Heading() heading {
	h := heading{name: x.name, rest: x.rest, note: x.note}
	below := x.port.TotalLineCount() - x.port.YOffset() - x.port.Height()
	if x.port.Height() > 0 && below > 0 && h.note == "" {
		h.note = plural(below, "line") + " below"
	}
	return h
}

// Move scrolls.
func (x *textPane) Move(m motion) {
	switch m {
	case up:
		x.port.ScrollUp(1)
	case down:
		x.port.ScrollDown(1)
	case halfUp:
		x.port.HalfPageUp()
	case halfDown:
		x.port.HalfPageDown()
	case toTop:
		x.port.GotoTop()
	case toBottom:
		x.port.GotoBottom()
	}
}

// View draws the window.
func (x *textPane) View(w, h int) []string {
	x.port.SetWidth(max(w-1, 0))
	x.port.SetHeight(max(h, 0))
	x.port.SetYOffset(x.port.YOffset()) // a larger window may show past the end
	if w < 2 || h < 1 {
		return nil
	}
	lines := strings.Split(x.port.View(), "\n")
	for i, line := range lines {
		lines[i] = " " + line
	}
	return lines
}
