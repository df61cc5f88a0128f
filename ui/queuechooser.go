package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
)

// queueChooser asks which queue's jobs to list: all the queues there were when it was
// opened, narrowed to those with the typed text in their names, literally.
type queueChooser struct {
	input input
	known []string // by name
	fit   []string // of the known; "" stands for all queues
	at    int      // the row of fit under the cursor
	top   int
	room  int
}

// chooseQueue opens the question, at the queue that is chosen now.
func (a *app) chooseQueue() tea.Cmd {
	c := &queueChooser{known: a.jobsTab.queues()}
	c.narrow()
	c.at = max(slices.Index(c.fit, a.jobsTab.queue), 0)
	a.ask(c)
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return nil
}

// narrow finds the names that fit. A name that is not known can be chosen too: a queue
// of completed jobs alone may be missing among the counts.
func (c *queueChooser) narrow() {
	c.at, c.top = 0, 0
	if c.input.text == "" {
		c.fit = append([]string{""}, c.known...)
		return
	}
	c.fit = nil
	typed := strings.ToLower(c.input.text)
	for _, name := range c.known {
		if strings.Contains(strings.ToLower(name), typed) {
			c.fit = append(c.fit, name)
		}
	}
	if !slices.Contains(c.known, c.input.text) {
		c.fit = append(c.fit, c.input.text)
	}
}

// Heading is the dialog's title.
func (c *queueChooser) Heading() heading {
	h := heading{name: "JOBS OF WHICH QUEUE"}
	if below := len(c.fit) - c.top - c.room; c.room > 0 && below > 0 {
		h.note = thousands(int64(below)) + " below"
	}
	return h
}

// Grave is not set.
func (c *queueChooser) Grave() bool { return false }

// Input is the part of a name.
func (c *queueChooser) Input() *input { return &c.input }

// Typed narrows anew.
func (c *queueChooser) Typed() { c.narrow() }

// Move moves between the names.
func (c *queueChooser) Move(m motion) {
	half := max(c.room/2, 1)
	by := map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -len(c.fit), toBottom: len(c.fit)}[m]
	c.at = max(min(c.at+by, len(c.fit)-1), 0)
}

// Keys choose.
func (c *queueChooser) Keys(a *app) []action {
	return []action{key("enter", "choose", "", func() tea.Cmd {
		a.dialogs.Pop()
		a.jobsTab.Choose(c.fit[c.at], a.jobsTab.stands)
		return nil
	})}
}

// Lines draws the question.
func (c *queueChooser) Lines(t *theme, w, h int, _ bool) []string {
	c.room = max(h-5, 1)
	c.top = max(min(c.top, c.at), c.at-c.room+1)
	typed := c.input.View(t, max(w-2, 0))
	if c.input.text == "" {
		typed = c.input.View(t, 1) + t.dim.draw(" type a part of its name")
	}
	lines := []string{"", safe.FitStyled(t.accent.draw("/ ")+typed, w), ""}
	for i := c.top; i < min(c.top+c.room, len(c.fit)); i++ {
		name := t.text.draw(safe.Text(c.fit[i]))
		switch {
		case c.fit[i] == "":
			name = t.dim.draw("all queues")
		case c.input.text != "" && i == len(c.fit)-1 && !slices.Contains(c.known, c.fit[i]):
			name += t.dim.draw("  by this very name")
		}
		lines = append(lines, t.lineOf(" "+name, w, i == c.at, false))
	}
	lines = append(lines, "", safe.FitStyled(t.chip(okay, "enter  choose")+"  "+t.chip(quiet, "↑↓  move")+"  "+t.chip(quiet, "esc  not now"), w))
	return lines[max(len(lines)-max(h, 0), 0):]
}
