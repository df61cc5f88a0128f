package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// discardBatch is how many jobs are discarded at once: between two batches it can be stopped.
const discardBatch = 500

// The fields of the question, from top to bottom.
const (
	discardReason = iota
	discardNumber // only where the set is vast
	discardButton
)

// discardDialog asks whether to discard dead letters, and why. Of a vast set it has the
// number typed: who does has read it.
type discardDialog struct {
	set    deadSet
	reason input
	number input
	at     int
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

// Input is the line under the cursor; nil on the button.
func (d *discardDialog) Input() *input {
	switch d.at {
	case discardReason:
		return &d.reason
	case discardNumber:
		return &d.number
	}
	return nil
}

// Typed keeps digits alone in the number.
func (d *discardDialog) Typed() {
	if d.at == discardNumber {
		d.number.Digits("")
	}
}

// Move moves between the fields.
func (d *discardDialog) Move(m motion) {
	d.step(map[motion]int{up: -1, down: 1, halfUp: -1, halfDown: 1, toTop: -discardButton, toBottom: discardButton}[m])
}

func (d *discardDialog) step(by int) {
	at := max(min(d.at+by, discardButton), 0)
	if at == discardNumber && !d.set.vast() {
		at = max(min(at+by, discardButton), 0)
	}
	d.at = at
}

// wrong says why nothing can be discarded yet; "" when it can.
func (d *discardDialog) wrong() string {
	if n := strconv.Itoa(len(d.set.ids)); d.set.vast() && d.number.text != n {
		return "type the number first: " + thousands(int64(len(d.set.ids)))
	}
	return ""
}

// Keys move to the button, and discard there. What is pasted with the end of a line in
// it does not.
func (d *discardDialog) Keys(a *app) []action {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { d.step(by); return nil }
	}
	keys := []action{key("tab", "", "", move(1)), key("shift+tab", "", "", move(-1))}
	if d.at != discardButton {
		return append(keys, key("enter", "next", "", move(1)))
	}
	return append(keys, key("y enter", "discard", "", func() tea.Cmd {
		a.dialogs.Close(d)
		return a.discard(d.set, strings.TrimSpace(d.reason.text))
	}).unless(d.wrong()).alone())
}

// Lines draws the question; the way out stays in sight however small the window.
func (d *discardDialog) Lines(t *theme, w, h int, armed bool) []string {
	n := len(d.set.ids)
	words := wrap("Moved to the archive as "+pick(n == 1, "it is", "they are")+": nothing claims, lists or redrives "+pick(n == 1, "it", "them")+
		" there. u here, or leasetop restore, brings "+pick(n == 1, "it", "them")+" back, until they are purged.", w)
	buttons := buttonRow(t, danger, armed, d.wrong() == "", d.at == discardButton, "discard "+plural(n, "job"), pick(n == 1, "leave it", "leave them"))
	var fields []string
	field := func(at int, label string, in *input, hint string) {
		if at == d.at {
			typed := in.View(t, max(w-len(label), 1))
			if in.text == "" {
				typed = in.View(t, 1) + t.dim.draw(" "+hint)
			}
			fields = append(fields, t.lead.draw(label)+typed)
			return
		}
		fields = append(fields, t.dim.draw(label)+pick(in.text == "", t.faint, t.strong).draw(brief(cmp.Or(in.text, hint), max(w-len(label), 1))))
	}
	field(discardReason, "reason ", &d.reason, "for the operator log; may be empty")
	if d.set.vast() {
		field(discardNumber, "number ", &d.number, "type "+thousands(int64(n))+", how many are discarded")
	}
	subject := d.set.says
	if room := max(h-len(words)-len(fields)-6, 1); len(subject) > room {
		subject = append(slices.Clip(subject[:room-1]), t.dim.draw("…"))
	}
	lines := append([]string{""}, subject...)
	lines = append(lines, "")
	for _, s := range words {
		lines = append(lines, t.dim.draw(s))
	}
	lines = append(lines, "")
	lines = append(lines, fields...)
	lines = append(lines, "", buttons, "")
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
	ids           []int64      // those that were discarded, when it is over
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
	act := queue.Act{By: a.cfg.By, What: "discard", Filter: set.filter, Reason: set.reason(reason), IDs: set.ids[:min(len(set.ids), 100)], Asked: int64(len(set.ids))}
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
				m.ids = append(m.ids, done.IDs...)
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
	undoes := ""
	if m.done > 0 {
		what := "the discard of " + plural(m.done, "job")
		if m.done == 1 {
			what = fmt.Sprintf("the discard of job %d", m.ids[0])
		}
		a.done(undoable{ids: m.ids, what: what})
		undoes = a.undoes()
	}
	a.report(text+undoes, m.skipped, m.some, m.err)
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
