package ui

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/faults"
)

// brokenHere is what was broken on purpose and is not healed yet, as it was known last.
// It is the present even where the picture is frozen: it must not be forgotten.
type brokenHere struct{ list []faults.Broken }

const (
	brokenEvery = time.Second
	// healPatience is how long healing may take: an index of millions of rows is built anew.
	healPatience = 30 * time.Minute
	// faultPatience is how long breaking may take: a server is stopped and started again.
	faultPatience = 2 * time.Minute
)

type (
	choicesMsg struct{ dialog *faultDialog }
	faultedMsg struct {
		did string
		err error
	}
	healedMsg struct {
		healed []string
		err    error
	}
	brokenMsg struct {
		list  []faults.Broken
		again bool // it is looked at again in a while
	}
)

// readBroken looks what is broken, at once.
func (a *app) readBroken() tea.Cmd {
	return a.io(func(context.Context) tea.Msg { return brokenMsg{list: a.cfg.Faults.Broken()} })
}

// watchBroken looks after a while, and again and again: it changes by itself, and something
// may be broken from the start.
func (a *app) watchBroken(after time.Duration) tea.Cmd {
	if a.cfg.Faults == nil {
		return nil
	}
	return a.io(func(ctx context.Context) tea.Msg {
		if after > 0 && !a.sleep(ctx, after) {
			return nil
		}
		return brokenMsg{a.cfg.Faults.Broken(), true}
	})
}

// faulted takes what came of faults.
func (a *app) faulted(msg tea.Msg) tea.Cmd {
	if told, ok := msg.(brokenMsg); !ok || len(told.list)+len(a.broken.list) > 0 {
		a.frame = ""
	}
	switch msg := msg.(type) {
	case choicesMsg:
		if a.dialogs.Top() == nil && a.page() == page(a.crew) { // else somebody went on meanwhile
			a.ask(msg.dialog)
		}
		return nil
	case faultedMsg:
		if msg.err != nil {
			a.say(danger, msg.err.Error())
		} else {
			a.say(okay, msg.did)
		}
		return a.readBroken()
	case healedMsg:
		switch {
		case msg.err != nil:
			a.say(danger, msg.err.Error())
		case len(msg.healed) > 0:
			a.say(okay, "healed: "+strings.Join(msg.healed, ", "))
		}
		return a.readBroken()
	case brokenMsg:
		a.broken.list = msg.list
		a.pic.lanes.Broken(msg.list, a.now())
		if msg.again {
			return a.watchBroken(brokenEvery)
		}
	}
	return nil
}

// breakKey opens the catalogue; a fault of one worker is done to that of this name.
func (a *app) breakKey(worker string) action {
	return key("B", "break", "break something on purpose: choose what, and watch", func() tea.Cmd {
		return a.io(func(ctx context.Context) tea.Msg {
			return choicesMsg{newFaultDialog(worker, a.cfg.Faults.Choices(ctx, worker))}
		})
	}).never(pick(a.cfg.Faults == nil, "nothing can be broken here", "")).unless(a.readOnly())
}

// healKey heals all that was broken.
func (a *app) healKey() action {
	why := ""
	switch list := a.broken.list; {
	case a.cfg.Faults == nil || len(list) == 0:
		why = "nothing is broken on purpose"
	case a.healing():
		why = "it is being healed"
	}
	return key("H", "", "heal what was broken on purpose", func() tea.Cmd {
		return a.ioWithin(healPatience, func(ctx context.Context) tea.Msg {
			healed, err := a.cfg.Faults.Heal(ctx)
			return healedMsg{healed, err}
		})
	}).alone().unless(why)
}

// healing tells whether all that is broken is being healed.
func (a *app) healing() bool {
	for _, one := range a.broken.list {
		if !one.Healing {
			return false
		}
	}
	return true
}

// brokenLine is one line under the tabs, on every page, about what is broken on purpose.
func (a *app) brokenLine(w int) []string {
	if len(a.broken.list) == 0 {
		return nil
	}
	t := a.pic.theme
	says := "broken on purpose"
	if n := len(a.broken.list); n > 1 {
		says += ": " + strconv.Itoa(n)
	}
	left := []part{{t.alarm.draw("✗"), 0}, {t.alarm.draw(says), 8}}
	for i, one := range a.broken.list {
		name := t.bad.draw(one.Title)
		if one.Healing {
			name = t.warn.draw(one.Title + ", healing")
		}
		left = append(left,
			part{name + t.dim.draw(" "+age(a.now().Sub(one.Since))), min(i, 5)},
			part{t.text.draw(safe.Text(one.Text)), pick(len(a.broken.list) == 1, 6, 9)})
	}
	heals := ""
	if a.typing() == nil && !a.healing() {
		heals = t.accent.draw("H") + t.dim.draw(" heals")
	}
	return []string{spread(left, []part{{heals, 0}}, w)}
}
