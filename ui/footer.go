package ui

import (
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// footer is the last line: what the last action did, and what the keys do here.
func (a *app) footer(w int) string {
	t := a.pic.theme
	said := a.flash.View(t)
	hints := a.hints(w - safe.Width(said) - 5)
	blank := max(w-2-safe.Width(said)-safe.Width(hints), 1)
	return safe.FitStyled(" "+said+strings.Repeat(" ", blank)+hints, w)
}

// hints draws the labelled keys in w cells: the page's first; help and quit stay
// longest.
func (a *app) hints(w int) string {
	t := a.pic.theme
	actions := a.keys()
	if top := a.dialogs.Top(); top != nil {
		return ""
	}
	draw := func(one action) string {
		if one.why != "" {
			return t.faint.draw(one.shown() + " " + one.label)
		}
		return t.accent.draw(one.shown()) + " " + t.dim.draw(one.label)
	}
	var texts, last []string
	used := 0
	for _, one := range actions {
		if one.label == "" || one.out {
			continue
		}
		if one.label == "help" || one.label == "quit" {
			last = append(last, draw(one))
			used += safe.Width(last[len(last)-1]) + 3
			continue
		}
		texts = append(texts, draw(one))
	}
	line := ""
	for _, text := range texts {
		if used+safe.Width(text)+3 > w {
			continue
		}
		used += safe.Width(text) + 3
		line += text + "   "
	}
	line += strings.Join(last, "   ")
	if safe.Width(line) > w {
		return ""
	}
	return line
}
