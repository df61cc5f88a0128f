package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// press is one key.
func (a *app) press(k tea.KeyPressMsg) tea.Cmd {
	now, pressed := a.now(), k.String()
	together := a.presses.Note(now)
	if pressed == "ctrl+c" {
		return a.leave()
	}
	if pressed == "ctrl+z" {
		return tea.Suspend
	}
	if !a.roomy() {
		if pressed == "q" {
			return a.leave()
		}
		return nil
	}
	if pressed == "esc" { // what was said is read
		a.flash = flash{}
	}
	if top := a.dialogs.Top(); top != nil {
		if a.dialogs.Swallow(now) {
			return nil
		}
		return a.answer(top, k, together)
	}
	if one, ok := find(a.keys(), pressed); ok {
		return a.act(one, together)
	}
	if a.typing() != nil {
		a.typed(k)
		return nil
	}
	if m, ok := motions[pressed]; ok {
		a.page().Move(m)
	}
	return nil
}

// answer is a key for the dialog in front.
func (a *app) answer(top dialog, k tea.KeyPressMsg, together bool) tea.Cmd {
	pressed := k.String()
	if one, ok := find(top.Keys(a), pressed); ok {
		return a.act(one, together)
	}
	if a.typing() != nil && pressed != "esc" {
		a.typed(k)
		return nil
	}
	_, help := top.(*helpDialog)
	if pressed == "esc" || help && (pressed == "?" || pressed == "q") {
		a.dialogs.Pop()
		return nil
	}
	if m, ok := motions[pressed]; ok {
		top.Move(m)
	}
	return nil
}

// act does what an action says, or says why not.
func (a *app) act(one action, together bool) tea.Cmd {
	if one.why != "" {
		what := one.label
		if what == "" {
			what = one.shown()
		}
		a.say(caution, what+": "+one.why)
		a.flash.key, a.flash.why = one.keys[0], one.why
		return nil
	}
	if one.solo {
		return a.whenAlone(one, together)
	}
	return one.do()
}

// unsay takes a refusal away that is not true any more.
func (a *app) unsay() {
	if a.flash.why == "" || a.w == 0 {
		return
	}
	keys := a.keys
	if top := a.dialogs.Top(); top != nil {
		keys = func() []action { return top.Keys(a) }
	}
	if one, ok := find(keys(), a.flash.key); ok && one.why != a.flash.why {
		a.flash, a.frame = flash{}, ""
	}
}

// keys are all actions there are now, those of the page first. Where something is
// being typed the others are letters.
func (a *app) keys() []action {
	if a.typing() != nil {
		return a.page().Keys(a)
	}
	return append(a.page().Keys(a), append(a.demoKeys(), a.globalKeys()...)...)
}

// globalKeys are the same on every page.
func (a *app) globalKeys() []action {
	freeze := key("p", "", "freeze the picture; the queue and its workers go on", func() tea.Cmd {
		a.freeze()
		return nil
	})
	if a.frozen {
		freeze.label, freeze.help = "go on", "show the present again"
	}
	keys := []action{
		freeze,
		key("tab", "", "the next pane", func() tea.Cmd { a.page().Cycle(1); return nil }),
		key("shift+tab", "", "the pane before", func() tea.Cmd { a.page().Cycle(-1); return nil }),
	}
	keys = append(keys, a.tabKeys()...)
	keys = append(keys,
		a.undoKey(),
		a.plansKey(),
		a.logKey(),
		a.pauseElsewhere(),
		a.healKey(),
		a.healthKey(),
		key("?", "help", "this list", func() tea.Cmd { return a.help() }),
		key("ctrl+z", "", "suspend; fg comes back", func() tea.Cmd { return tea.Suspend }),
		key("q", "quit", "quit (ctrl+c too)", a.quit),
	)
	own := a.page().Keys(a)
	return slices.DeleteFunc(keys, func(one action) bool { // what the page does with it goes first
		_, other := find(own, one.keys[0])
		return other
	})
}

// help opens the list of keys.
func (a *app) help() tea.Cmd {
	here := a.tabs[a.open].name
	if p, ok := a.page().(named); ok {
		here = p.Name()
	}
	move := func(keys, help string) action { return key(keys, "", help, nil) }
	var sections []helpSection
	moving := helpSection{title: "Moving", actions: []action{
		move("j k ↓ ↑", "down, up"), move("^d ^u", "half a page down, up"), move("g G", "to the top, to the end"),
	}}
	origin := helpSection{title: "Where the picture comes from", notes: sources(&a.pic)}
	last := append(limitSections(&a.pic), origin)
	if panel, ok := a.dialogs.Top().(*healthPanel); ok {
		sections = append([]helpSection{{title: "Health", actions: panel.Keys(a)}, moving}, last...)
	} else {
		if own := a.page().Keys(a); len(own) > 0 {
			sections = append(sections, helpSection{title: here, actions: own})
		}
		sections = append(sections,
			helpSection{title: "Demonstration", actions: a.demoKeys()}, moving,
			helpSection{title: "Everywhere", actions: a.globalKeys()},
		)
		sections = append(sections, last...)
	}
	a.dialogs.Push(&helpDialog{sections: sections}, a.now())
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return nil
}
