package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
)

// confirm asks before something is done. What it names was fixed when it was
// opened, and exactly that is acted on, whatever the list below does meanwhile.
type confirm struct {
	title   string
	subject func() []string // what is acted on, a line each, already styled
	more    string          // how many are not listed
	says    string          // what will happen
	yes     string          // "redrive 3 jobs"
	no      string          // "leave them"
	grave   bool
	do      func() tea.Cmd
}

// Heading is the dialog's title.
func (c *confirm) Heading() heading { return heading{name: c.title} }

// Grave is set for what cannot be taken back.
func (c *confirm) Grave() bool { return c.grave }

// Move does nothing: there is nothing to choose.
func (c *confirm) Move(motion) {}

// Keys confirm or leave. Text pasted as keys into an open question does not answer it.
// Enter opened what is below in most lists, so it never confirms.
func (c *confirm) Keys(a *app) []action {
	return []action{
		key("enter", "", "", func() tea.Cmd {
			a.say(caution, "y confirms, esc leaves")
			return nil
		}).alone(),
		key("y", c.yes, "", func() tea.Cmd {
			if a.dialogs.Top() != dialog(c) {
				return nil // it was left meanwhile
			}
			a.dialogs.Pop()
			return c.do()
		}).alone(),
		key("n", "", "", func() tea.Cmd {
			a.dialogs.Pop()
			return nil
		}),
	}
}

// Lines draws the question; the way out stays in sight however small the window.
func (c *confirm) Lines(t *theme, w, h int, armed bool) []string {
	buttons := c.buttons(t, armed)
	words := wrap(c.says, w)
	room := max(h-len(words)-5, 1)
	subject, more := c.subject(), c.more
	if len(subject) > room {
		hidden := len(subject) - room
		subject = subject[:room]
		more = strings.TrimSpace(plural(hidden, "line") + " more, " + more)
		more = strings.TrimSuffix(more, ",")
	}
	lines := []string{""}
	for _, s := range subject {
		lines = append(lines, safe.FitStyled(s, w))
	}
	if more != "" {
		lines = append(lines, t.dim.draw(safe.Fit(more, w)))
	}
	lines = append(lines, "")
	for _, s := range words {
		lines = append(lines, t.dim.draw(s))
	}
	lines = append(lines, "", safe.FitStyled(buttons, w), "")
	if len(lines) > h {
		lines = append([]string{safe.FitStyled(buttons, w)}, lines...)[:max(h, 0)]
	}
	return lines
}

func (c *confirm) buttons(t *theme, armed bool) string {
	kind := okay
	if c.grave {
		kind = danger
	}
	yes := "y"
	if !armed {
		kind, yes = quiet, "…"
	}
	return t.chip(kind, yes+"  "+c.yes) + "   " + t.chip(quiet, "esc  "+c.no)
}
