package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// The fields of the form, from top to bottom.
const (
	fieldCanary = iota
	fieldThen
	fieldPace
	fieldStop
	fieldReason
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
	inputs [fields]input // that of fieldThen is not used
	wait   bool
	at     int

	statements []queue.Statement
	tried      *queue.Rehearsal // what would happen now; nil: not known yet
	failed     error            // why it is not known
	sql        textPane
	groups     textPane
	showing    *textPane // instead of the form
	width      int       // for which the texts were laid out
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
	a.ask(f)
	return a.ioWithin(startPatience, func(ctx context.Context) tea.Msg {
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
	p = queue.NewPlan{IDs: f.set.ids, Filter: f.set.filter, Reason: strings.TrimSpace(f.inputs[fieldReason].text), Wait: f.wait}
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
	p.Canary, p.StopAt = number(fieldCanary), number(fieldStop)
	if text := f.inputs[fieldPace].text; text != "" {
		pace, wrong := strconv.ParseFloat(text, 64)
		if p.Pace = pace; wrong != nil && err == nil {
			err = fmt.Errorf("%s is no number of jobs a second: say 50, or 0.5", text)
		}
	}
	switch {
	case err != nil:
	case p.Canary > len(f.set.ids):
		err = fmt.Errorf("there are only %s: try at most so many first", plural(len(f.set.ids), "job"))
	case p.StopAt > 100:
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
	if f.showing != nil || f.at == fieldThen {
		return nil
	}
	return &f.inputs[f.at]
}

// Typed keeps digits alone where a number is asked for.
func (f *planForm) Typed() {
	if f.at == fieldReason {
		return
	}
	in := &f.inputs[f.at]
	kept := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' && f.at == fieldPace {
			return r
		}
		return -1
	}, in.text)
	if len(kept) > 9 {
		kept = kept[:9]
	}
	if kept != in.text {
		in.text, in.at = kept, len(kept)
	}
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
	start := func() tea.Cmd {
		a.dialogs.Pop()
		return a.beginPlan(p, true)
	}
	next := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			f.at = (f.at + by + fields) % fields
			f.step(0)
			return nil
		}
	}
	keys := []action{
		key("enter", "start", "", start).unless(why).unless(a.readOnly()).alone(),
		key("tab", "", "", next(1)),
		key("shift+tab", "", "", next(-1)),
	}
	if f.at == fieldReason {
		return keys
	}
	keys = append(keys,
		key("y", "start", "", start).unless(why).unless(a.readOnly()).alone(),
		key("s", "SQL", "", func() tea.Cmd { f.showing = &f.sql; return nil }),
		key("d", "dry run", "", func() tea.Cmd { f.showing = &f.groups; return nil }),
	)
	if f.at == fieldThen {
		keys = append(keys, key("space left right h l", "choose", "", func() tea.Cmd { f.wait = !f.wait; return nil }))
	}
	return keys
}

// Lines draws the dialog.
func (f *planForm) Lines(t *theme, w, h int, armed bool) []string {
	if f.showing != nil {
		f.lay(t, w)
		lines := f.showing.View(w, max(h-2, 1))
		return append(lines, "", safe.FitStyled(t.chip(quiet, "esc  back")+"   "+t.dim.draw(f.showing.Heading().note), w))
	}
	p, err := f.plan()
	form := f.form(t, w)
	words := wrap(planwords.Will(p, len(f.set.ids)), w)
	k := t.text
	if err != nil {
		words, k = wrap("! "+err.Error(), w), t.warn
	}
	buttons := f.buttons(t, w, armed, err == nil)
	about := append([]string(nil), f.set.says...)
	if f.set.filter != "" {
		about = append(about, t.dim.draw("filter ")+t.accent.draw(safe.Text(f.set.filter)))
	}
	tight := h < 20
	room := h - len(form) - len(words) - 4 - pick(tight, 0, 3)
	if most := max(room, 1); len(about) > most {
		about = append(about[:most-1:most-1], t.dim.draw("…"))
	}
	var lines []string
	gap := func() {
		if !tight {
			lines = append(lines, "")
		}
	}
	gap()
	for _, line := range about {
		lines = append(lines, safe.FitStyled(line, w))
	}
	lines = append(lines, safe.FitStyled(f.outlook(t), w))
	gap()
	lines = append(lines, form...)
	lines = append(lines, "")
	for _, line := range words {
		lines = append(lines, k.draw(line))
	}
	lines = append(lines, "", safe.FitStyled(buttons, w))
	gap()
	if len(lines) > h { // what it does and how it is left stay in sight
		lines = append(lines[:max(h-2, 0):max(h-2, 0)], "", safe.FitStyled(buttons, w))
		lines = lines[:min(len(lines), max(h, 0))]
	}
	return lines
}

// outlook is what the dry run found, in a line.
func (f *planForm) outlook(t *theme) string {
	switch {
	case f.failed != nil:
		return t.warn.draw("! not tried: " + brief(f.failed.Error(), 200))
	case f.tried == nil:
		return t.dim.draw("trying what would happen…")
	}
	r, n := f.tried, int64(len(f.set.ids))
	line := t.good.draw("✓") + t.dim.draw(" dry run: ") + t.text.draw("all of them can be redriven now")
	if ready := n - r.Gone - r.InUse; ready < n {
		line = t.warn.draw("!") + t.dim.draw(" dry run: ") + t.text.draw(thousands(ready)+" can be redriven now")
	}
	if r.Gone > 0 {
		line += t.dim.draw(" · ") + t.warn.draw(thousands(r.Gone)+" no dead letters any more")
	}
	if r.InUse > 0 {
		line += t.dim.draw(" · ") + t.warn.draw(thousands(r.InUse)+" whose key is in use")
	}
	return line + t.dim.draw(" · "+plural(len(r.Groups), "problem")+" ") + t.accent.draw("d")
}

// form draws the fields.
func (f *planForm) form(t *theme, w int) []string {
	const nameW = 21
	line := func(field int, name, value, unit string) string {
		k := t.dim
		if field == f.at {
			k = t.lead
		}
		return t.lineOf(k.draw(safe.Fit(name, nameW))+value+"  "+t.dim.draw(unit), w, field == f.at, false)
	}
	number := func(field int) string {
		if field == f.at {
			return f.inputs[field].View(t, 10)
		}
		text := f.inputs[field].text
		return pick(text == "", t.faint, t.strong).draw(safe.Fit(pick(text == "", "–", text), 10))
	}
	choice := func(on bool, text string) string {
		if on {
			return t.accent.draw("(●) ") + t.strong.draw(text)
		}
		return t.faint.draw("( ) ") + t.dim.draw(text)
	}
	then := choice(f.wait, "wait for me") + "   " + choice(!f.wait, "go on by itself")
	if f.whole() {
		then = t.faint.draw("nothing is left to wait with")
	}
	reason := f.inputs[fieldReason].View(t, max(w-nameW-4, 1))
	if f.at != fieldReason {
		text := f.inputs[fieldReason].text
		reason = pick(text == "", t.faint, t.strong).draw(brief(pick(text == "", "for whoever reads the log", text), max(w-nameW-4, 1)))
	}
	unit := func(long, short string) string { return pick(w >= 84, long, short) }
	return []string{
		line(fieldCanary, "try first", number(fieldCanary), unit("of them, and watch how they end; empty: all at once", "of them; empty: all at once")),
		line(fieldThen, "then", then, ""),
		line(fieldPace, "pace", number(fieldPace), unit("jobs a second; empty: as fast as it goes", "a second; empty: unpaced")),
		line(fieldStop, "stop when more than", number(fieldStop), unit("% of those that ended died again; empty: never", "% died again; empty: never")),
		line(fieldReason, "reason", reason, ""),
	}
}

func (f *planForm) buttons(t *theme, w int, armed, fine bool) string {
	kind := pick(armed && fine, okay, quiet)
	yes := pick(f.at == fieldReason, "enter", "y")
	chips := []string{t.chip(kind, pick(armed, yes, "…")+"  start")}
	if f.at == fieldThen {
		chips = append(chips, t.chip(quiet, "space  choose"))
	}
	if f.at != fieldReason {
		chips = append(chips, t.chip(quiet, "d  dry run"), t.chip(quiet, "s  SQL"))
	}
	chips = append(chips, t.chip(quiet, "tab  next field"), t.chip(quiet, "esc  leave them"))
	for len(chips) > 2 && safe.Width(strings.Join(chips, "  ")) > w { // how to start it and how to leave it stay
		chips = append(chips[:len(chips)-2], chips[len(chips)-1])
	}
	return strings.Join(chips, "  ")
}

// lay lays out what is shown instead of the form.
func (f *planForm) lay(t *theme, w int) {
	if f.width == w {
		return
	}
	f.width = w
	var lines []string
	for i, s := range f.statements {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.lead.draw(safe.Text(s.About)))
		for k, value := range s.Values {
			lines = append(lines, t.dim.draw(safe.Text(fmt.Sprintf("$%d  %s", k+1, value))))
		}
		lines = append(lines, wrap(s.SQL, w-1)...)
	}
	f.sql.SetLines(lines)
	f.groups.SetLines(f.groupLines(t, w-1))
}

// groupLines are the problems that the set died of, the most frequent first.
func (f *planForm) groupLines(t *theme, w int) []string {
	if f.tried == nil {
		return []string{f.outlook(t)}
	}
	lines := []string{f.outlook(t), ""}
	countW, kindW := 5, 8
	for _, g := range f.tried.Groups {
		countW = max(countW, len(thousands(g.Count)))
		kindW = max(kindW, min(safe.Width(safe.Text(kindOf(g.Queue, g.Kind))), 28))
	}
	for _, g := range f.tried.Groups {
		text, _, _ := strings.Cut(strings.TrimSpace(g.Error), "\n")
		lines = append(lines, safe.FitStyled(t.strong.draw(safe.FitRight(thousands(g.Count), countW))+"  "+
			t.accent.draw(safe.Fit(kindOf(g.Queue, g.Kind), kindW))+"  "+t.text.draw(safe.Text(text[:min(len(text), 400)])), w))
	}
	return append(lines, "", t.dim.draw("Nothing has been changed."))
}
