package ui

import (
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/faults"
)

// faultDialog is the catalogue of what can be broken on purpose.
type faultDialog struct {
	worker  string // that was under the cursor
	choices []faults.Choice
	list    selection[string]
}

func newFaultDialog(worker string, choices []faults.Choice) *faultDialog {
	d := &faultDialog{worker: worker, choices: choices}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Name
	}
	d.list.SetKeys(names)
	return d
}

// Heading is the dialog's title.
func (d *faultDialog) Heading() heading {
	return heading{name: "BREAK SOMETHING", note: strconv.Itoa(d.list.at+1) + " of " + strconv.Itoa(len(d.choices))}
}

// Grave is not set: a question follows.
func (d *faultDialog) Grave() bool { return false }

// Move moves between the faults.
func (d *faultDialog) Move(m motion) { d.list.Move(m) }

// Keys ask about the fault under the cursor.
func (d *faultDialog) Keys(a *app) []action {
	c := d.choices[d.list.at]
	return []action{key("enter", "break", "", func() tea.Cmd {
		a.ask(newFault(a, d, c))
		return nil
	}).unless(c.Why)}
}

// newFault asks before something is broken.
func newFault(a *app, from *faultDialog, c faults.Choice) *confirm {
	on := ""
	if c.Aim {
		on = from.worker
	}
	return &confirm{
		title: "BREAK: " + strings.ToUpper(c.Title), grave: true,
		subject: func() []string { return []string{a.pic.theme.strong.draw(join(c.Title, pick(on != "", "· "+on, "")))} },
		says:    c.What,
		yes:     "break it", no: "leave it",
		do: func() tea.Cmd {
			a.dialogs.Close(from)
			return a.ioWithin(faultPatience, func(ctx context.Context) tea.Msg {
				did, err := a.cfg.Faults.Start(ctx, c.Name, on)
				return faultedMsg{did, err}
			})
		},
	}
}

// mostOfWhat is how many lines what a fault does may take, with why it cannot be done now.
const mostOfWhat = 5

// Lines draws the list, and below it what the one under the cursor is.
func (d *faultDialog) Lines(t *theme, w, h int, armed bool) []string {
	var lines []string
	from, to := d.list.Window(max(h-mostOfWhat-3, 1))
	for i := from; i < to; i++ {
		c := d.choices[i]
		k := pick(c.Why == "", t.text, t.faint)
		row := " " + k.draw(c.Title)
		if c.Aim && c.Why == "" {
			row += t.dim.draw(" · " + safe.Text(d.worker))
		}
		lines = append(lines, t.lineOf(row, w, i == d.list.at, false))
	}
	c := d.choices[d.list.at]
	about := wrap(c.What, w)
	for i := range about {
		about[i] = t.dim.draw(about[i])
	}
	for i, line := range wrap(safe.Text(c.Why), w-2) {
		if c.Why != "" {
			about = append(about, t.warn.draw(pick(i == 0, "! ", "  ")+line))
		}
	}
	for len(about) < mostOfWhat {
		about = append(about, "")
	}
	lines = append(append(lines, ""), about[:mostOfWhat]...)
	kind, press := pick(c.Why == "", danger, quiet), pick(armed, "enter", "…")
	lines = append(lines, "", safe.FitStyled(t.chip(kind, press+"  break it")+"  "+t.chip(quiet, "↑↓  choose")+"  "+t.chip(quiet, "esc  leave"), w))
	return lines[max(len(lines)-max(h, 0), 0):]
}
