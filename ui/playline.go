package ui

import (
	"fmt"
	"slices"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// playLine is one line under the tabs about the play that goes on, on every page but its own.
func (a *app) playLine(w int) []string {
	p := a.plays.live()
	if p == nil {
		return nil
	}
	if page, ok := a.page().(*stagePage); ok && page.of == p {
		return nil
	}
	t, pic := a.pic.theme, &p.pic
	stands := string(pic.State)
	switch pic.State {
	case scenario.Waiting:
		stands = pick(pic.Auto, "goes on by itself", "waits for you")
	case scenario.Shown:
		stands = "seen"
	}
	left := []part{
		{t.lead.draw("▶ " + safe.Text(pic.Name)), 0},
		{t.text.draw(fmt.Sprintf("step %d of %d", pic.Step+1, len(pic.Steps))), 0},
		{t.dim.draw(stands), 1},
		{t.dim.draw(safe.Text(pic.Title)), 2},
	}
	opens := ""
	if a.typing() == nil {
		opener := a.scenarioNumber()
		if a.page() == page(a.stories) {
			opener = "o"
		}
		opens = t.accent.draw(opener) + t.dim.draw(" opens")
	}
	return []string{spread(left, []part{{opens, 0}}, w)}
}

// scenarioNumber is the number of the Scenarios tab.
func (a *app) scenarioNumber() string {
	return fmt.Sprint(1 + slices.IndexFunc(a.tabs, func(t tab) bool { return t.page == page(a.stories) }))
}
