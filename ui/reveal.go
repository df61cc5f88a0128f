package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
)

// leaver is a page that is told that it is not in front any more.
type leaver interface{ Left() }

// Left hides the secrets again.
func (d *detail) Left() {
	if d.revealed {
		d.revealed = false
		d.prepare()
	}
}

// revealKey shows the job's secrets, once that is entered in the operator log, or hides
// them again.
func (d *detail) revealKey(a *app, over string) action {
	if d.revealed {
		return key("X", "hide", "hide the secrets again; leaving the page does too", func() tea.Cmd {
			d.Left()
			return nil
		})
	}
	id := d.id
	return key("X", "reveal", "show the masked secrets of this job; the operator log tells who did", func() tea.Cmd {
		return a.io(func(ctx context.Context) tea.Msg {
			return revealedMsg{id, a.cfg.Jobs.Logged(ctx, reveal(a.cfg.By, id, ""), nothing)}
		})
	}).alone().unless(over).unless(a.readOnly()).unless(pick(d.masked > 0, "", "nothing is masked here"))
}

// masked is a text that somebody typed, a filter or a reason, without its secrets. The
// operator log keeps what was typed as it is.
func masked(text string) string {
	text, _ = mask.Text(text)
	return text
}

// reveal is the entry of the operator log for secrets that were shown.
func reveal(by string, id int64, why string) queue.Act {
	return queue.Act{By: by, What: "reveal", IDs: []int64{id}, Asked: 1, Reason: why}
}

// nothing is the deed of an act that only has to be entered.
func nothing(context.Context) (done, skipped int, err error) { return 1, 0, nil }

// revealedMsg is that a reveal is entered, or could not be.
type revealedMsg struct {
	id  int64
	err error
}

func (a *app) revealedSecrets(m revealedMsg) {
	d, ok := a.page().(*detail)
	switch {
	case m.err != nil:
		a.say(danger, "not revealed: "+m.err.Error())
	case ok && d.id == m.id && d.job != nil: // and not left meanwhile
		d.revealed = true
		d.prepare()
		a.say(caution, "secrets are shown until you leave this job; the operator log says so")
	}
}
