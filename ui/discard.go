package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// discardBatch is how many jobs are discarded at once: between two batches it can be stopped.
const discardBatch = 500

// discardDialog asks whether to discard dead letters, and why.
type discardDialog struct {
	set    deadSet
	reason input
}

func newDiscard(_ *app, set deadSet) *discardDialog { return &discardDialog{set: set} }

// Heading is the dialog's title.
func (d *discardDialog) Heading() heading {
	if len(d.set.ids) == 1 {
		return heading{name: fmt.Sprintf("DISCARD JOB %d", d.set.ids[0])}
	}
	return heading{name: "DISCARD " + strings.ToUpper(plural(len(d.set.ids), "job"))}
}

// Grave is set: nothing runs them any more.
func (d *discardDialog) Grave() bool { return true }

// Input is the reason.
func (d *discardDialog) Input() *input { return &d.reason }

// Typed does nothing: the reason is read when it is whole.
func (d *discardDialog) Typed() {}

// Move does nothing: there is nothing to choose.
func (d *discardDialog) Move(motion) {}

// Keys discard. What is pasted with the end of a line in it does not.
func (d *discardDialog) Keys(a *app) []action {
	return []action{key("enter", "discard", "", func() tea.Cmd {
		a.dialogs.Close(d)
		return a.discard(d.set, strings.TrimSpace(d.reason.text))
	}).alone()}
}

// Lines draws the question; the way out stays in sight however small the window.
func (d *discardDialog) Lines(t *theme, w, h int, armed bool) []string {
	n := len(d.set.ids)
	words := wrap("Moved to the archive as "+pick(n == 1, "it is", "they are")+": nothing claims, lists or redrives "+pick(n == 1, "it", "them")+
		" there. leasetop restore brings "+pick(n == 1, "it", "them")+" back, until they are purged.", w)
	kind, enter := danger, "enter"
	if !armed {
		kind, enter = quiet, "…"
	}
	buttons := t.chip(kind, enter+"  discard "+plural(n, "job")) + "   " + t.chip(quiet, "esc  "+pick(n == 1, "leave it", "leave them"))
	const label = "reason "
	typed := d.reason.View(t, max(w-len(label), 1))
	if d.reason.text == "" {
		typed = d.reason.View(t, 1) + t.dim.draw(" for the operator log; may be empty")
	}
	subject := d.set.says
	if room := max(h-len(words)-7, 1); len(subject) > room {
		subject = append(slices.Clip(subject[:room-1]), t.dim.draw("…"))
	}
	lines := append([]string{""}, subject...)
	lines = append(lines, "")
	for _, s := range words {
		lines = append(lines, t.dim.draw(s))
	}
	lines = append(lines, "", t.accent.draw(label)+typed, "", buttons, "")
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines[max(len(lines)-max(h, 0), 0):]
}

// discarding shows how far a discard is.
type discarding struct {
	total, done, skipped int
	stop                 context.CancelFunc
	stopping             bool
	news                 news
}

// discardMsg is how far a discard is, or what came of it.
type discardMsg struct {
	d             *discarding
	set           deadSet
	done, skipped int
	some          []queue.Skip // a few of those that were skipped
	over          bool
	err           error
}

// discard discards a set, in batches, as one entry of the operator log.
func (a *app) discard(set deadSet, reason string) tea.Cmd {
	ctx, cancel := context.WithCancel(a.ctx)
	d := &discarding{total: len(set.ids), stop: cancel, news: newNews()}
	a.ask(d)
	a.dialogs.deaf = a.now() // it was asked for
	act := queue.Act{By: a.cfg.By, What: "discard", Filter: set.filter, Reason: reason, IDs: set.ids[:min(len(set.ids), 100)], Asked: int64(len(set.ids))}
	return tea.Batch(a.ioUnder(a.ctx, func(live context.Context) tea.Msg {
		defer cancel()
		defer close(d.news)
		m := discardMsg{d: d, set: set, over: true}
		m.err = a.cfg.Jobs.Logged(live, act, func(live context.Context) (int, int, error) {
			for batch := range slices.Chunk(set.ids, discardBatch) {
				if ctx.Err() != nil { // stopped: the batch before is done
					return m.done, m.skipped, nil
				}
				done, err := a.cfg.Jobs.Discard(live, a.cfg.By, reason, batch...)
				m.done += len(done.IDs)
				m.skipped += len(done.Skipped)
				m.some = append(m.some, done.Skipped[:min(len(done.Skipped), max(3-len(m.some), 0))]...)
				if err != nil {
					return m.done, m.skipped, err
				}
				d.news.tell(discardMsg{d: d, done: m.done, skipped: m.skipped})
			}
			return m.done, m.skipped, nil
		})
		a.cfg.Feed.Refresh()
		return m
	}), a.hear(d.news))
}

// discarded takes news of a discard.
func (a *app) discarded(m discardMsg) tea.Cmd {
	if !m.over {
		m.d.done, m.d.skipped = m.done, m.skipped
		return a.hear(m.d.news)
	}
	a.dialogs.Close(m.d)
	a.acted(m.set)
	text := "discarded " + thousands(int64(m.done))
	if n := m.d.total - m.done - m.skipped; n > 0 && m.err == nil {
		text += " of " + thousands(int64(m.d.total)) + ", stopped"
	}
	if m.done == 1 && m.d.total == 1 {
		text = fmt.Sprintf("discarded %d", m.set.ids[0])
	}
	a.report(text+pick(m.done > 0, ": leasetop restore brings "+pick(m.done == 1, "it", "them")+" back", ""), m.skipped, m.some, m.err)
	return nil
}

// Heading is the dialog's title.
func (d *discarding) Heading() heading { return heading{name: "DISCARDING"} }

// Grave is set.
func (d *discarding) Grave() bool { return true }

// Move does nothing: there is nothing to choose.
func (d *discarding) Move(motion) {}

// Keys stop it.
func (d *discarding) Keys(*app) []action {
	return []action{key("esc", "stop", "", func() tea.Cmd {
		d.stop()
		d.stopping = true
		return nil
	})}
}

// Lines draws how far it is.
func (d *discarding) Lines(t *theme, w, h int, _ bool) []string {
	text := t.strong.draw(thousands(int64(d.done))) + t.text.draw(" of "+plural(d.total, "job"))
	if d.skipped > 0 {
		text += t.text.draw(", " + thousands(int64(d.skipped)) + " skipped")
	}
	end := t.chip(quiet, "esc  stop after this batch")
	if d.stopping {
		end = t.dim.draw("stopping after this batch…")
	}
	lines := []string{"", text, "", end, ""}
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines[max(len(lines)-max(h, 0), 0):]
}
