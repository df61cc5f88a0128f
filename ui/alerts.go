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

// alertLine says under the tabs which limits are passed, and which cannot be told: in
// words, or in fewer where there is no room for these. Those that still have none are
// counted; the help has them all.
func alertLine(p *picture, w int) []string {
	var full, brief []phrase
	add := func(k ink, mark, say, inShort string) {
		full, brief = append(full, phrase{k, mark + safe.Text(say)}), append(brief, phrase{k, mark + safe.Text(inShort)})
	}
	t, alerts := p.theme, p.alarm.Alerts()
	for _, within := range []bool{false, true} {
		for _, one := range alerts {
			if within != one.Within.IsZero() {
				add(pick(within, t.warn, t.bad), pick(within, "· ", "! "), one.Says(), one.Brief())
			}
		}
	}
	for _, text := range doubtful(p.alarm.Doubts()) {
		add(t.warn, "? ", text, text)
	}
	if len(full) == 0 {
		return nil
	}
	line, all := phrases(t, full, w-2)
	if !all {
		line, _ = phrases(t, brief, w-2)
	}
	return []string{safe.FitStyled(" "+line, w)}
}

// phrase is a piece of a line.
type phrase struct {
	ink  ink
	text string
}

// phrases sets them one after the other in w cells, and counts those that have no room;
// whole says that there are none, and that nothing was cut off.
func phrases(t *theme, list []phrase, w int) (line string, whole bool) {
	used, all := 0, true
	for i, one := range list {
		rest := ""
		if more := len(list) - 1 - i; more > 0 {
			rest = "  and " + thousands(int64(more)) + " more, see ?"
		}
		gap := pick(i > 0, "  ", "")
		switch n := safe.Width(gap + one.text); {
		case used+n+safe.Width(rest) <= w:
		case i == 0: // some of the first is better than none
			one.text, all = safe.Fit(one.text, max(w-safe.Width(rest), 0)), false
		default:
			return line + t.dim.draw("  and "+thousands(int64(len(list)-i))+" more, see ?"), false
		}
		line += one.ink.draw(gap + one.text)
		used += safe.Width(gap + one.text)
	}
	return line, all
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
