package ui

// textPane is lines of finished text that can be scrolled.
type textPane struct {
	name, rest, note string
	lines            []string
	top, height      int
}

// Show takes nothing from the picture: the owner sets the lines.
func (x *textPane) Show(*picture) {}

// Focus is shown by the border alone.
func (x *textPane) Focus(bool) {}

// Heading names the pane, and says how much is below.
func (x *textPane) Heading() heading {
	h := heading{name: x.name, rest: x.rest, note: x.note}
	if below := len(x.lines) - x.top - x.height; x.height > 0 && below > 0 && h.note == "" {
		h.note = plural(below, "line") + " below"
	}
	return h
}

// Move scrolls.
func (x *textPane) Move(m motion) {
	half := max(x.height/2, 1)
	x.top += map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -len(x.lines), toBottom: len(x.lines)}[m]
	x.clamp()
}

func (x *textPane) clamp() { x.top = max(min(x.top, len(x.lines)-x.height), 0) }

// View draws the window.
func (x *textPane) View(w, h int) []string {
	x.height = max(h, 0)
	x.clamp()
	var out []string
	for _, line := range x.lines[x.top:min(x.top+x.height, len(x.lines))] {
		out = append(out, " "+line)
	}
	return out
}
