package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/ui/safe"
)

// Alerts are the limits that the dashboard watches, and how it calls.
type Alerts struct {
	Limits alert.Limits
	Silent bool         // no bell
	Notify Notification // also on the desktop
}

// judge looks whether limits are passed, once a second, also while the picture is frozen.
func (a *app) judge() tea.Cmd {
	if len(a.alarm.Limits) == 0 {
		return nil
	}
	now := a.now()
	fresh, _ := a.alarm.Take(alert.Read(a.latest.state, now), now)
	a.frame = ""
	if len(fresh) == 0 {
		return nil
	}
	return a.call(fresh)
}

// call rings and notifies. What is sent moves nothing on the screen, and Bubble Tea sends
// it between two frames.
func (a *app) call(fresh []alert.Alert) tea.Cmd {
	said := make([]string, len(fresh))
	for i, one := range fresh {
		said[i] = one.Says()
	}
	sent := a.cfg.Alerts.Notify.sequence(a.title(), strings.Join(said, " · "))
	if !a.cfg.Alerts.Silent {
		sent = "\a" + sent
	}
	if sent == "" {
		return nil
	}
	return tea.Raw(sent)
}

// alertChip says in the header how many limits are passed, or that all are kept; "" when
// none is set.
func (p *picture) alertChip() string {
	t := p.theme
	alerts := p.alarm.Alerts()
	switch {
	case len(p.alarm.Limits) == 0:
		return ""
	case len(alerts) > 0:
		kind := caution
		for _, one := range alerts {
			if one.Within.IsZero() {
				kind = danger
			}
		}
		return t.chip(kind, "! "+strconv.Itoa(len(alerts))+pick(len(alerts) == 1, " alert", " alerts"))
	case len(p.alarm.Doubts()) > 0:
		return t.warn.draw("alerts ?")
	case p.state.Version == 0:
		return t.dim.draw("alerts …")
	}
	return t.dim.draw("alerts ") + t.good.draw("✓")
}

// alertLine says under the tabs which limits are passed, and which cannot be told. Those
// that have no room are counted; the help has them all.
func alertLine(p *picture, w int) []string {
	type piece struct {
		ink  ink
		text string
	}
	t := p.theme
	var past, within, all []piece
	for _, one := range p.alarm.Alerts() {
		if one.Within.IsZero() {
			past = append(past, piece{t.bad, "! " + safe.Text(one.Says())})
		} else {
			within = append(within, piece{t.warn, "· " + safe.Text(one.Says())})
		}
	}
	all = append(past, within...)
	for _, text := range doubtful(p.alarm.Doubts()) {
		all = append(all, piece{t.warn, "? " + safe.Text(text)})
	}
	if len(all) == 0 {
		return nil
	}
	room := w - 2
	line, used := all[0].ink.draw(oneLine(all[0].text, "", room)), min(safe.Width(all[0].text), room)
	for i, one := range all[1:] {
		text, rest := "  "+one.text, ""
		if more := len(all) - 2 - i; more > 0 {
			rest = "  and " + thousands(int64(more)) + " more, see ?"
		}
		if used+safe.Width(text)+safe.Width(rest) > room {
			rest = "  and " + thousands(int64(len(all)-1-i)) + " more, see ?"
			if used+safe.Width(rest) <= room {
				line += t.dim.draw(rest)
			}
			break
		}
		line += one.ink.draw(text)
		used += safe.Width(text)
	}
	return []string{safe.FitStyled(" "+line, w)}
}

// doubtful says what cannot be told, those of one reason together.
func doubtful(doubts []alert.Doubt) (said []string) {
	names := map[string][]string{}
	var reasons []string
	for _, d := range doubts {
		if names[d.Why] == nil {
			reasons = append(reasons, d.Why)
		}
		names[d.Why] = append(names[d.Why], d.Measure.Name())
	}
	for _, why := range reasons {
		said = append(said, "cannot tell "+strings.Join(names[why], ", ")+": "+why)
	}
	return said
}

// limitSections say for the help how each limit stands; none where none is set.
func limitSections(p *picture) []helpSection {
	var notes []string
	stands := map[alert.Measure]string{}
	for _, d := range p.alarm.Doubts() {
		stands[d.Measure] = "cannot be told: " + d.Why
	}
	for _, one := range p.alarm.Alerts() {
		stands[one.Measure] = strings.TrimPrefix(stands[one.Measure]+"; ", "; ") + one.Says() + ", since " + age(p.local.Sub(one.Since)) + " ago"
	}
	for _, m := range alert.Measures {
		if limit, set := p.alarm.Limits[m]; set {
			notes = append(notes, m.Name()+", at most "+alert.Amount(m, limit)+": "+pick(stands[m] != "", stands[m], "kept"))
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return []helpSection{{title: "Alerts", notes: notes}}
}
