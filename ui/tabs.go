package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
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
		{"Jobs", func(*picture) string { return "" }, a.jobsTab},
		{"Dead letters", func(p *picture) string {
			n, atLeast := p.deadLetters()
			if n == 0 {
				return ""
			}
			return bounded(n, atLeast, 7)
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
		{"Scenarios", func(*picture) string { return pick(a.plays.live() != nil, "▶", "") }, a.stories},
		{"Events", func(*picture) string { return "" }, a.events},
	}
}

// deadLetters is how many dead letters there are, from where the alerts have it too: one
// screen has one count.
func (p *picture) deadLetters() (n int64, atLeast bool) {
	depths := &p.state.Depths
	if depths.Source == watch.Unknown {
		return p.state.Dead.Total, p.state.Dead.Capped
	}
	for i := range depths.Queues {
		d := &depths.Queues[i]
		n += d.Failed + d.Dead
		atLeast = atLeast || d.AtLeast.Failed || d.AtLeast.Dead
	}
	return n, atLeast
}

// tabKeys open the tabs by number.
func (a *app) tabKeys() []action {
	keys := make([]action, len(a.tabs))
	for i, t := range a.tabs {
		keys[i] = key(strconv.Itoa(i+1), "", t.name, func() tea.Cmd {
			a.open, a.over = i, nil
			a.jobsTab.Again() // when it is looked at: what was read before may be old
			if live := a.plays.live(); live != nil && t.page == page(a.stories) {
				a.over = []page{&stagePage{pic: &a.pic, of: live}}
			}
			a.show()
			return nil
		})
	}
	return keys
}

// tabLine draws the tabs. In a narrow window they stand close, with short names, and if
// that does not do, without their counts.
func (a *app) tabLine(w int) string {
	names := a.tabNames(false, false)
	if gap := "  "; safe.Width(strings.Join(names, gap))+2 <= w {
		return safe.FitStyled(" "+strings.Join(names, gap), w)
	}
	line := " " + strings.Join(a.tabNames(true, false), "")
	if safe.Width(line) > w {
		line = " " + strings.Join(a.tabNames(true, true), "")
	}
	return safe.FitStyled(line, w)
}

// shorter are names of tabs where there is little room, shortest where there is least.
var (
	shorter  = map[string]string{"Dead letters": "Dead"}
	shortest = map[string]string{"Scenarios": "Scenes"}
)

// tabNames draws each tab.
func (a *app) tabNames(short, bare bool) (names []string) {
	t := a.pic.theme
	for i, one := range a.tabs {
		number, name, badge := strconv.Itoa(i+1), one.name, one.badge(&a.pic)
		if s := shorter[name]; short && s != "" {
			name = s
		}
		if bare {
			badge = ""
			if s := shortest[name]; s != "" {
				name = s
			}
		}
		if i == a.open {
			text := join(number+" "+name, badge)
			if t.plain {
				text = "[" + text + "]"
			} else {
				text = " " + text + " "
			}
			names = append(names, t.tab.draw(text))
			continue
		}
		k := t.accent
		switch one.page {
		case page(a.deadTab):
			k = t.bad
		case page(a.overview):
			k = t.warn
		}
		names = append(names, " "+t.accent.draw(number)+t.dim.draw(" "+name+strings.Repeat(" ", min(len(badge), 1)))+k.draw(badge)+" ")
	}
	return names
}
