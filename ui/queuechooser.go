package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// queueChooser asks which queue's jobs to list: of all the queues that are known, those
// with the typed text in their names, literally.
type queueChooser struct {
	jobs  *jobsTab
	input input
	state *watch.State // that the names are of
	text  string       // that they are narrowed by
	known []string     // by name
	list  selection[string]
	first bool // the cursor is on the first name that fits, whichever that is
}

// chooseQueue opens the question, at the queue that is chosen now.
func (a *app) chooseQueue() tea.Cmd {
	c := &queueChooser{jobs: a.jobsTab}
	c.narrow()
	c.list.Select(a.jobsTab.queue)
	a.ask(c)
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return nil
}

// narrow finds the names that fit. A name that is not known can be chosen too: a queue
// of completed jobs alone may be missing among the counts.
func (c *queueChooser) narrow() {
	if c.state == c.jobs.pic.state && c.text == c.input.text {
		return
	}
	if c.state != c.jobs.pic.state {
		c.state, c.known = c.jobs.pic.state, c.jobs.queues()
	}
	if c.text != c.input.text { // begin with the first that fits
		c.text, c.list, c.first = c.input.text, selection[string]{}, true
	}
	c.list.SetKeys(c.fit())
	if c.first {
		c.list.Rest()
	}
}

// allQueues is what the choice of them all is called.
const allQueues = "all queues"

// fit are the names that fit; "" stands for all queues.
func (c *queueChooser) fit() (fit []string) {
	if c.input.text == "" {
		return append([]string{""}, c.known...)
	}
	typed := strings.ToLower(c.input.text)
	for _, name := range c.known {
		if strings.Contains(strings.ToLower(name), typed) {
			fit = append(fit, name)
		}
	}
	if strings.HasPrefix(allQueues, typed) {
		fit = append(fit, "")
	}
	if !c.knows(c.input.text) {
		fit = append(fit, c.input.text)
	}
	return fit
}

func (c *queueChooser) knows(name string) bool {
	_, ok := slices.BinarySearch(c.known, name)
	return ok
}

// Heading is the dialog's title.
func (c *queueChooser) Heading() heading {
	h := heading{name: "JOBS OF WHICH QUEUE"}
	if below := len(c.list.keys) - c.list.top - c.list.height; c.list.height > 0 && below > 0 {
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
	c.list.Move(m)
	c.first = false
}

// Keys choose.
func (c *queueChooser) Keys(a *app) []action {
	return []action{key("enter", "choose", "", func() tea.Cmd {
		a.dialogs.Pop()
		name, _ := c.list.Key()
		a.jobsTab.Choose(name, a.jobsTab.stands)
		return nil
	})}
}

// Lines draws the question, with the queues there are by now.
func (c *queueChooser) Lines(t *theme, w, h int, _ bool) []string {
	c.narrow()
	typed := c.input.View(t, max(w-2, 0))
	if c.input.text == "" {
		typed = c.input.View(t, 1) + t.dim.draw(" type a part of its name")
	}
	lines := []string{"", safe.FitStyled(t.accent.draw("/ ")+typed, w), ""}
	from, to := c.list.Window(max(h-5, 1))
	for i := from; i < to; i++ {
		one := c.list.keys[i]
		name := t.text.draw(safe.Text(one))
		switch {
		case one == "":
			name = t.dim.draw(allQueues)
		case one == c.input.text && !c.knows(one):
			name += t.dim.draw("  by this very name")
		}
		lines = append(lines, t.lineOf(" "+name, w, i == c.list.at, false))
	}
	lines = append(lines, "", safe.FitStyled(t.chip(okay, "enter  choose")+"  "+t.chip(quiet, "↑↓  move")+"  "+t.chip(quiet, "esc  not now"), w))
	return lines[max(len(lines)-max(h, 0), 0):]
}
