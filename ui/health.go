package ui

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
)

// comparedMsg is the outcome of a comparison of the counts with the table.
type comparedMsg struct {
	drift watch.Drift
	err   error
}

// compareTimeout bounds a comparison: it reads every job that is not completed.
const compareTimeout = 5 * time.Minute

// findings is what there is to say of the queue's health now, worst first.
func (p *picture) findings() []watch.Finding {
	if p.state.Version == 0 {
		return nil
	}
	return p.state.Findings(p.now)
}

// concerns are the findings to look at that the header's sources and the banner do not
// tell already.
func concerns(all []watch.Finding) (list []watch.Finding) {
	for _, f := range all {
		if f.Grade >= watch.Caution && f.Source == watch.Unknown {
			list = append(list, f)
		}
	}
	return list
}

// healthChip is the header's word for them. It holds no age: it rests while they do.
func (p *picture) healthChip() string {
	list := concerns(p.findings())
	if len(list) == 0 {
		return ""
	}
	return p.theme.chip(toneOf(list[0].Grade), markOf(list[0].Grade)+" "+strconv.Itoa(len(list))+" health")
}

// drift is the header's word for the last comparison. It speaks of the counts that this
// stream keeps: one of those before it says nothing of them.
func (p *picture) drift() string {
	d, wal := p.state.Health.Drift, p.state.WAL
	switch {
	case !wal.OK || !d.Checked.After(wal.Since) || p.state.Depths.Source != watch.FromWAL:
		return ""
	case d.Off > 0:
		return p.theme.warn.draw("drift " + thousands(d.Off))
	}
	return p.theme.dim.draw("drift 0")
}

func toneOf(g watch.Grade) tone {
	return map[watch.Grade]tone{watch.Fine: okay, watch.Hidden: quiet, watch.Caution: caution, watch.Danger: danger}[g]
}

// markOf says in a glyph what the colour says.
func markOf(g watch.Grade) string {
	return map[watch.Grade]string{watch.Fine: "✓", watch.Hidden: "?", watch.Caution: "!", watch.Danger: "✗"}[g]
}

// healthKey opens the panel. The footer names it while there is something to see there.
func (a *app) healthKey() action {
	return key("h", pick(len(concerns(a.pic.findings())) > 0, "health", ""), "health: what troubles the queue or will, and the cure", func() tea.Cmd {
		a.health.top = 0
		a.dialogs.Push(a.health, a.now())
		a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts on a job
		return nil
	})
}

// compareKey has the feed compare its counts with the table.
func (a *app) compareKey() action {
	why := ""
	switch s := a.latest.state; {
	case a.health.comparing:
		why = "a comparison is under way"
	case !s.WAL.OK || s.Depths.Source != watch.FromWAL:
		why = "the counts do not come from the stream now"
	}
	return key("c", "compare the counts", "compare the counts with the table: every job that is not completed is read once", a.compare).unless(why)
}

func (a *app) compare() tea.Cmd {
	a.health.comparing = true
	return a.ioWithin(compareTimeout, func(ctx context.Context) tea.Msg {
		drift, err := a.cfg.Feed.Reconcile(ctx)
		return comparedMsg{drift, err}
	})
}

// compared says how a comparison went; its figures come with the next State.
func (a *app) compared(m comparedMsg) {
	a.health.comparing = false
	switch d := m.drift; {
	case m.err != nil:
		a.say(danger, "compare the counts: "+m.err.Error())
	case d.Off > 0:
		a.say(caution, "compared "+plural(int(d.Jobs), "job")+": "+plural(int(d.Off), "count")+" off; the stream attaches again")
	default:
		a.say(okay, "compared "+plural(int(d.Jobs), "job")+" with the table: the counts agree")
	}
}
