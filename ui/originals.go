package ui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// originalsMsg are the payloads that edits replaced.
type originalsMsg struct {
	id        int64
	originals []queue.Original // oldest first
	err       error
}

// originalsKey shows the payloads that edits replaced, the newest first, and then the
// payload as it is now again.
func (d *detail) originalsKey(a *app, edits int) action {
	id := d.id
	return key("o", "originals", "show the payload as it was before it was edited "+times(edits)+", step by step, and as it is now again", func() tea.Cmd {
		if d.original > 0 || len(d.originals) > 0 && len(d.originals) >= edits {
			d.step()
			return nil
		}
		return a.io(func(ctx context.Context) tea.Msg {
			originals, err := a.cfg.Jobs.Originals(ctx, id)
			return originalsMsg{id, originals, err}
		})
	})
}

// step shows the next original.
func (d *detail) step() {
	d.original = (d.original + 1) % (len(d.originals) + 1)
	d.folds.turned = nil
	d.prepare()
}

func (a *app) originalsRead(m originalsMsg) {
	d, ok := a.page().(*detail)
	switch {
	case !ok || d.id != m.id || d.job == nil:
	case m.err != nil:
		a.say(danger, m.err.Error())
	case len(m.originals) == 0:
		a.say(caution, "no original is kept any more")
	default:
		slices.Reverse(m.originals)
		d.originals, d.original = m.originals, 0
		d.step()
	}
}

// originalNote says which original is shown, and in brief.
func (d *detail) originalNote() (whole, short string) {
	o := d.originals[d.original-1]
	which, ago := fmt.Sprintf("%d of %d", len(d.originals)-d.original+1, len(d.originals)), age(d.pic.now.Sub(o.At))+" ago"
	whole = "original " + which + ", replaced " + ago + " by " + brief(o.By, 24)
	if o.Reason != "" {
		whole += ": " + brief(masked(o.Reason), 60)
	}
	return whole, which + ", until " + ago
}

// times is how often something was done.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return thousands(int64(n)) + " times"
}
