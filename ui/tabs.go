package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// tab is one of the screens that the number keys open.
type tab struct {
	name  string
	badge func(p *picture) string // a count beside the name
	page  page
}

// registry is the tabs in the order of their numbers.
func (a *app) registry() []tab {
	return []tab{
		{"Overview", func(p *picture) string {
			if n := len(p.state.Pauses.List); n > 0 {
				return strconv.Itoa(n) + " paused"
			}
			return ""
		}, a.overview},
		{"Dead letters", func(p *picture) string {
			if p.state.Dead.Total == 0 {
				return ""
			}
			return bounded(p.state.Dead.Total, p.state.Dead.Capped, 7)
		}, a.deadTab},
		{"Workers", func(p *picture) string {
			live := 0
			for _, w := range p.workers {
				if !ended(w) {
					live++
				}
			}
			return pick(p.alone, "", strconv.Itoa(live))
		}, a.crew},
	}
}

// tabKeys open the tabs by number.
func (a *app) tabKeys() []action {
	keys := make([]action, len(a.tabs))
	for i, t := range a.tabs {
		keys[i] = key(strconv.Itoa(i+1), "", t.name, func() tea.Cmd {
			a.open, a.detail = i, nil
			a.show()
			return nil
		})
	}
	return keys
}

// tabLine draws the tabs.
func (a *app) tabLine(w int) string {
	t := a.pic.theme
	var left []part
	for i, one := range a.tabs {
		number, name, badge := strconv.Itoa(i+1), one.name, one.badge(&a.pic)
		if i == a.open {
			text := join(number+" "+name, badge)
			if t.plain {
				text = "[" + text + "]"
			} else {
				text = " " + text + " "
			}
			left = append(left, part{t.tab.draw(text), 0})
			continue
		}
		k := t.accent
		switch one.page {
		case page(a.deadTab):
			k = t.bad
		case page(a.overview):
			k = t.warn
		}
		left = append(left, part{" " + t.accent.draw(number) + t.dim.draw(" "+name+strings.Repeat(" ", min(len(badge), 1))) + k.draw(badge) + " ", 0})
	}
	return spread(left, nil, w)
}
