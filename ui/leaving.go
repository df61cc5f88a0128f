package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
)

// leaving says why the program does not end at once: a play's world is being taken down.
type leaving struct{ plays *playsHere }

// Heading is the dialog's title.
func (d *leaving) Heading() heading {
	name := "SCENARIO"
	if p := d.plays.now; p != nil {
		name = strings.ToUpper(p.latest.Name)
	}
	return heading{name: "STOPPING " + name}
}

// Grave is not set.
func (d *leaving) Grave() bool { return false }

// Move does nothing.
func (d *leaving) Move(motion) {}

// Keys leave at once. Esc has nothing to take back: the play is stopped.
func (d *leaving) Keys(*app) []action {
	return []action{
		key("q", "leave", "", func() tea.Cmd { return tea.Quit }),
		key("esc", "", "", func() tea.Cmd { return nil }),
	}
}

// Lines draws it.
func (d *leaving) Lines(t *theme, w, h int, _ bool) []string {
	lines := []string{""}
	for _, line := range wrap("Its workers are ended, its jobs removed. Then leasetop quits.", w) {
		lines = append(lines, t.text.draw(line))
	}
	lines = append(lines, "")
	for _, line := range wrap("q leaves at once: what is left then goes when the next scenario is played here.", w) {
		lines = append(lines, t.dim.draw(line))
	}
	lines = append(lines, "")
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines[:min(len(lines), max(h, 0))]
}
