package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// Keys are what the tab's keys do, and the filter's while something is typed.
func (d *deadTab) Keys(a *app) []action {
	if d.line.typing != nil {
		return d.line.Keys(d.known)
	}
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	none := d.nothing()
	keys := d.openKeys(a)
	keys = append(keys, d.actKeys(a)...)
	if d.listed {
		keys = append(keys, d.editKey(a), elsewhere("X", "show masked secrets", "secrets are shown on a job's page: enter opens it"))
	} else {
		keys = append(keys, elsewhere("e", "edit a payload", "a payload is one job's: tab lists the jobs"),
			elsewhere("X", "show masked secrets", "secrets are shown on a job's page: tab lists the jobs"))
	}
	keys = append(keys,
		key("space", "mark", "mark the row under the cursor, or take its mark away, and move down a row", do(d.mark)).unless(none).unless(d.marks.unlike(!d.listed)),
		key("v", "", "begin a range of rows here; move, then space marks all of it", do(d.startRange)).unless(none).unless(d.marks.unlike(!d.listed)),
		key("*", "mark all", "mark all that match the filter, loaded or not", do(d.markAll)).unless(pick(d.groups.read && !d.listed || d.list.read && d.listed && d.list.below.next == nil, none, "")),
		d.line.openKey(),
		key("tab", pick(d.listed, "groups", "list"), "switch between the groups and the list; the filter holds for both", do(func() { d.Cycle(1) })),
	)
	if esc, ok := d.escKey(); ok {
		keys = append(keys, esc)
	}
	plans := a.plansKey()
	plans.label = "plans"
	undo := a.undoKey()
	undo.label = "undo"
	keys = append(keys, undo, plans)
	return append(keys, key("ctrl+r", "", "read again, at once", do(d.Stale)))
}

// nothing says that there is no row to do anything to; "" when there is.
func (d *deadTab) nothing() string {
	n := len(d.groups.list.keys)
	if d.listed {
		n = len(d.list.rows)
	}
	switch {
	case n > 0:
		return ""
	case !d.groups.read && !d.listed, d.listed && !d.list.read:
		return "nothing is read yet"
	case !d.line.applied.Empty():
		return "no dead letter matches the filter"
	}
	return "there are no dead letters"
}

// openKeys open what is under the cursor, and look further.
func (d *deadTab) openKeys(a *app) []action {
	if !d.listed {
		_, ok := d.groups.list.Key()
		return []action{key("enter", "open", "list the dead letters of the group under the cursor", func() tea.Cmd {
			d.open()
			return nil
		}).unless(pick(ok, "", d.nothing()))}
	}
	further := key("f", "further", "look further for dead letters that match, where enough was looked at", func() tea.Cmd {
		d.list.below.Further()
		return nil
	}).never(pick(d.list.stopped(), "", "there is nothing further to look at just now"))
	job, ok := d.list.Job()
	if !ok {
		if d.list.stopped() {
			further.keys = append(further.keys, "enter")
			return []action{further}
		}
		return []action{openKey(a, 0, false), further}
	}
	open := openKey(a, job.ID, true)
	open.do = func() tea.Cmd {
		d.hold()
		return a.openJob(job.ID)
	}
	return []action{open, further}
}

// actKeys act on what is chosen.
func (d *deadTab) actKeys(a *app) []action {
	any := d.marks.Any() || d.ranged() > 0
	why := pick(any, "", d.nothing())
	what := pick(d.listed, "the job under the cursor", "all jobs of the group under the cursor")
	label := func(verb string) string {
		switch m := &d.marks; {
		case d.ranged() > 0:
			return verb + " the marked"
		case m.all != nil:
			return verb + pick(m.all.where == "", " all", " all matching")
		case len(m.groups) > 0:
			return verb + " " + plural(len(m.groups), "marked group")
		case len(m.jobs) > 0:
			return fmt.Sprintf("%s %s marked", verb, thousands(int64(len(m.jobs))))
		case d.listed && !d.line.applied.Empty() && why == "":
			return verb + " 1" // of those that match
		}
		return verb
	}
	act := func(k, label, help string, then func(deadSet) tea.Cmd) action {
		return key(k, label, help+" "+what+", or what is marked", func() tea.Cmd { return d.withChosen(a, then) }).
			unless(why).unless(a.readOnly())
	}
	return []action{
		act("r", label("redrive"), "bring back to pending", func(set deadSet) tea.Cmd {
			a.ask(newRedrive(a, set))
			return nil
		}),
		act("R", pick(any, "plan", label("plan")), "redrive by a plan, a few first and then at a pace,", a.askPlan),
		act("D", pick(any, "discard", label("discard")), "move to the archive", func(set deadSet) tea.Cmd {
			a.ask(newDiscard(a, set))
			return nil
		}),
	}
}

// editKey edits the payload of the job under the cursor.
func (d *deadTab) editKey(a *app) action {
	job, ok := d.list.Job()
	edit := editKey(a, job).unless(pick(ok, "", d.nothing()))
	edit.label = "" // what is done to many has the room
	return edit
}

// escKey takes away what was done last: a range, marks, the group that was opened, the filter.
func (d *deadTab) escKey() (action, bool) {
	esc := func(label, help string, f func()) (action, bool) {
		return key("esc", label, help, func() tea.Cmd { f(); return nil }), true
	}
	switch {
	case d.ranged() > 0:
		return esc("drop range", "mark nothing of the range", d.dropRange)
	case d.marks.Any():
		return esc("clear marks", "take all marks away", d.marks.Clear)
	case d.listed && d.from != nil:
		return esc("back", "back to the groups", d.back)
	case d.line.text != "":
		return d.line.clearKey(), true
	}
	return action{}, false
}

// elsewhere says of a key of other pages where to press it.
func elsewhere(k, help, where string) action { return key(k, "", help, nil).unless(where) }
