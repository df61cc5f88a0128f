package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// The fields of the form, from top to bottom.
const (
	fieldCanary = iota
	fieldThen
	fieldPace
	fieldStop
	fieldReason
	fieldButton
	fields
)

// What is proposed: a careful redrive.
const (
	usualCanary = 5
	usualPace   = 50
	usualStop   = 20
)

// planForm asks how carefully a set of dead letters is to be redriven. The set is fixed:
// whatever joins or leaves the list below meanwhile, these ids are meant.
type planForm struct {
	set    deadSet
	inputs [fields]input // those of fieldThen and fieldButton are not used
	wait   bool
	at     int

	statements []queue.Statement
	tried      *queue.Rehearsal // what would happen now; nil: not known yet
	failed     error            // why it is not known
	sql        textPane
	groups     textPane
	stop       context.CancelFunc // of the dry run
	showing    *textPane          // instead of the form
	width      int                // for which the texts were laid out
}

// rehearsedMsg is what a redrive of a form's set would do now.
type rehearsedMsg struct {
	form  *planForm
	found queue.Rehearsal
	err   error
}

// askPlan asks how carefully these dead letters are to be redriven.
func (a *app) askPlan(set deadSet) tea.Cmd {
	f := &planForm{set: set, wait: true, statements: a.cfg.Jobs.PlanStatements(queue.NewPlan{IDs: set.ids, Filter: set.filter})}
	f.inputs[fieldCanary].Put(strconv.Itoa(min(usualCanary, len(set.ids))))
	f.inputs[fieldPace].Put(strconv.Itoa(usualPace))
	f.inputs[fieldStop].Put(strconv.Itoa(usualStop))
	ctx, stop := context.WithTimeout(a.ctx, startPatience)
	f.stop = stop
	a.ask(f)
	return a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer stop()
		found, err := a.cfg.Jobs.Rehearse(ctx, set.ids)
		return rehearsedMsg{f, found, err}
	})
}

// Took takes what a redrive would do.
func (f *planForm) Took(m rehearsedMsg) {
	if m.err != nil {
		f.failed = m.err
		return
	}
	f.tried = &m.found
	f.width = 0
}

// plan is what the form says, or what is wrong with it.
func (f *planForm) plan() (p queue.NewPlan, err error) {
	p = queue.NewPlan{IDs: f.set.ids, Filter: f.set.filter, Reason: f.set.reason(strings.TrimSpace(f.inputs[fieldReason].text)), Wait: f.wait}
	number := func(field int) (n int) {
		text := f.inputs[field].text
		if text == "" {
			return 0
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil && err == nil {
			err = fmt.Errorf("%s is no whole number that there are jobs for", text)
		}
		return n
	}
	p.Canary = number(fieldCanary)
	if f.inputs[fieldStop].text != "" {
		p.StopAt = new(number(fieldStop))
	}
	if text := f.inputs[fieldPace].text; text != "" {
		pace, wrong := strconv.ParseFloat(text, 64)
		if p.Pace = pace; wrong != nil && err == nil {
			err = fmt.Errorf("%s is no number of jobs a second: say 50, or 0.5", text)
		}
		switch {
		case err != nil:
		case p.Pace == 0:
			err = fmt.Errorf("at %s a second it would never end: leave the pace empty for as fast as it goes", text)
		case p.Pace > queue.MaxPace:
			err = fmt.Errorf("no database takes %s jobs a second: at most %s, or leave the pace empty for as fast as it goes", text, thousands(queue.MaxPace))
		}
	}
	switch {
	case err != nil:
	case p.Canary > len(f.set.ids):
		err = fmt.Errorf("there are only %s: try at most so many first", plural(len(f.set.ids), "job"))
	case p.StopAt != nil && *p.StopAt > 100:
		err = errors.New("at most 100 % can die again: leave it empty for never")
	}
	if p.Canary == 0 || p.Canary >= len(f.set.ids) { // there is nothing to wait for
		p.Canary, p.Wait = 0, false
	}
	return p, err
}

// whole tells that nothing is tried first, so that there is no rest to wait for.
func (f *planForm) whole() bool {
	p, err := f.plan()
	return err == nil && p.Canary == 0
}

// Heading is the dialog's title.
func (f *planForm) Heading() heading {
	h := heading{name: "REDRIVE " + strings.ToUpper(plural(len(f.set.ids), "dead letter")), note: "this set is fixed"}
	switch f.showing {
	case &f.sql:
		h.note = "the statements"
	case &f.groups:
		h.note = "what they died of"
	}
	return h
}

// Width is as wide as the statements need.
func (f *planForm) Width() int { return 92 }

// Grave is not set: it can be paused, cancelled and undone.
func (f *planForm) Grave() bool { return false }

// Input is the line under the cursor; nil where there is none.
func (f *planForm) Input() *input {
	if f.showing != nil || f.at == fieldThen || f.at == fieldButton {
		return nil
	}
	return &f.inputs[f.at]
}

// Typed keeps digits alone where a number is asked for.
func (f *planForm) Typed() {
	if f.at == fieldReason {
		return
	}
	f.inputs[f.at].Digits(pick(f.at == fieldPace, ".", ""))
}

// Move moves between the fields, or scrolls.
func (f *planForm) Move(m motion) {
	if f.showing != nil {
		f.showing.Move(m)
		return
	}
	f.step(map[motion]int{up: -1, down: 1, halfUp: -1, halfDown: 1, toTop: -fields, toBottom: fields}[m])
}

func (f *planForm) step(by int) {
	f.at = max(min(f.at+by, fields-1), 0)
	f.inputs[f.at].at = len(f.inputs[f.at].text)
}

// Keys are what the dialog's keys do. Where the reason is typed, letters are letters.
func (f *planForm) Keys(a *app) []action {
	if f.showing != nil {
		back := func() tea.Cmd { f.showing = nil; return nil }
		return []action{key("esc s d q enter", "back", "", back)}
	}
	p, err := f.plan()
	why := ""
	if err != nil {
		why = err.Error()
	}
	leave := func() tea.Cmd {
		f.stop()
		a.dialogs.Close(f)
		return nil
	}
	start := func() tea.Cmd {
		leave()
		return a.beginPlan(p, f.set, true)
	}
	next := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			f.at = (f.at + by + fields) % fields
			f.step(0)
			return nil
		}
	}
	keys := []action{
		key("tab", "", "the next field", next(1)),
		key("shift+tab", "", "the field before", next(-1)),
		key("esc", "leave", "leave them dead: nothing is done", leave),
	}
	if f.at == fieldButton {
		keys = append(keys, key("y enter", "start", "fix the set and begin", start).unless(why).unless(a.readOnly()).alone())
	} else {
		keys = append(keys, key("enter", "next", "the next field, and at last the button, where enter or y starts", next(1)))
	}
	if f.at == fieldReason {
		return keys
	}
	keys = append(keys, key("?", "help", "this list", func() tea.Cmd { return a.helpOf("The redrive", f.Keys(a)) }))
	keys = append(keys,
		key("s", "SQL", "the statements that are executed", func() tea.Cmd { f.showing = &f.sql; return nil }),
		key("d", "dry run", "what the set died of, and what would happen; nothing is changed", func() tea.Cmd { f.showing = &f.groups; return nil }),
	)
	switch f.at {
	case fieldThen:
		keys = append(keys, key("space left right h l", "choose", "wait for you after the first, or go on", func() tea.Cmd { f.wait = !f.wait; return nil }))
	case fieldButton:
		return keys
	}
	return append(keys, key("y", "to start", "to the button", func() tea.Cmd { f.at = fieldButton; return nil }))
}
