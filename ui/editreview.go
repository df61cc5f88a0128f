package ui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// reviewDialog shows what an edit changed, or what is wrong with it, before anything is
// written.
type reviewDialog struct {
	reviewMsg
	changes []change
	count   int      // lines that changed
	secrets []string // paths of secrets with another value, which the lines do not show
	top     int
	height  int
	writing bool
	failed  error // the last attempt to write it
}

func newReview(a *app, m reviewMsg) *reviewDialog {
	r := &reviewDialog{reviewMsg: m}
	if m.problem == nil {
		// Secrets stay hidden here: who typed them knows them, and the others need not.
		was, _ := mask.JSON(m.edit.text)
		is, _ := mask.JSON(byLine(json.RawMessage(m.text))) // how it was typed means nothing
		r.secrets = mask.Changed(m.edit.text, m.text)
		if strings.TrimSpace(was) == strings.TrimSpace(is) {
			r.changes = []change{{'~', "only values of secrets changed, which are not shown"}}
		} else {
			r.changes = changesOf(strings.Split(strings.TrimSpace(was), "\n"), strings.Split(strings.TrimSpace(is), "\n"))
		}
		r.count = linesChanged(r.changes)
	}
	return r
}

// Heading is the dialog's title.
func (r *reviewDialog) Heading() heading {
	h := heading{name: "EDITED PAYLOAD OF JOB " + itoa(r.edit.id)}
	if r.height > 0 && len(r.changes) > r.height {
		h.note = "j k scroll"
	}
	return h
}

// Grave is not set: the original is kept.
func (r *reviewDialog) Grave() bool { return false }

// Width is as wide as a line of a payload needs.
func (r *reviewDialog) Width() int { return 100 }

// Move scrolls.
func (r *reviewDialog) Move(m motion) {
	half := max(r.height/2, 1)
	r.top += map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -len(r.changes), toBottom: len(r.changes)}[m]
	r.top = max(min(r.top, len(r.changes)-r.height), 0)
}

// Keys write it, go on editing, or throw it away.
func (r *reviewDialog) Keys(a *app) []action {
	wrong := ""
	switch {
	case r.problem != nil:
		wrong = "it is no JSON yet"
	case r.writing:
		wrong = "it is being written"
	}
	write := func(redrive bool) func() tea.Cmd {
		return func() tea.Cmd {
			r.writing, r.failed = true, nil
			return a.writeEdit(r.edit, r.text, redrive)
		}
	}
	alive := pick(r.edit.status.IsDeadLetter(), "", "the job is no dead letter")
	return []action{
		key("s", "save", "", write(false)).unless(wrong).alone(),
		key("r", "save and redrive", "", write(true)).unless(alive).unless(wrong).alone(),
		key("e", "go on editing", "", func() tea.Cmd {
			a.dialogs.Pop()
			return a.openEditor(r.edit)
		}).unless(pick(r.writing, wrong, "")),
		key("esc", "throw away", "", func() tea.Cmd {
			a.ask(newThrowAway(a, r.edit))
			return nil
		}).unless(pick(r.writing, wrong, "")),
	}
}

// Lines draws the changes, or the mistake; the ways out stay in sight.
func (r *reviewDialog) Lines(t *theme, w, h int, armed bool) []string {
	var lines []string
	say := func(k ink, text string) {
		for _, line := range wrap(text, w) {
			lines = append(lines, k.draw(line))
		}
	}
	lines = append(lines, "")
	if r.ended != nil {
		say(t.warn, "! "+r.edit.program()+" ended with "+r.ended.Error()+"; this is what it left.")
	}
	var feet []string
	if p := r.problem; p != nil {
		say(t.bad, "✗ This is no JSON: "+p.Error()+".")
		lines = append(lines, "")
		lines = append(lines, pointAt(t, p.Says, p.Column, w)...)
		lines = append(lines, "")
		say(t.dim, "Nothing is written, and nothing you typed is lost.")
	} else {
		say(t.dim, r.summary()+" The original is kept.")
		lines = append(lines, "")
	}
	if r.failed != nil {
		for _, line := range wrap("✗ not written: "+r.failed.Error()+". Your text is kept.", w) {
			feet = append(feet, t.bad.draw(line))
		}
	}
	if r.writing {
		feet = append(feet, t.dim.draw("writing…"))
	}
	feet = append(feet, "")
	feet = append(feet, r.buttons(t, w, armed)...)
	feet = append(feet, "")
	r.height = max(h-len(lines)-len(feet), 1)
	r.top = max(min(r.top, len(r.changes)-r.height), 0)
	for i := r.top; i < min(r.top+r.height, len(r.changes)); i++ {
		lines = append(lines, r.changes[i].draw(t, w))
	}
	if room := max(h-len(feet), 0); len(lines) > room {
		lines = lines[:room]
	}
	lines = append(lines, feet...)
	return lines[:min(len(lines), max(h, 0))]
}

// summary counts what changed: lines, and secrets, whose lines look the same.
func (r *reviewDialog) summary() string {
	lines := plural(r.count, "line") + " of the payload"
	if len(r.secrets) == 0 {
		return lines + " changed."
	}
	const most = 8
	var names []string
	for _, path := range r.secrets[:min(len(r.secrets), most)] {
		names = append(names, brief(path, 40))
	}
	secrets := plural(len(r.secrets), "secret value") + " changed: " + strings.Join(names, ", ")
	if more := len(r.secrets) - most; more > 0 {
		secrets += " and " + thousands(int64(more)) + " more"
	}
	if r.count > 0 {
		secrets = lines + " changed, and " + secrets
	}
	return secrets + "."
}

// buttons are the ways out, in as many lines as they need.
func (r *reviewDialog) buttons(t *theme, w int, armed bool) []string {
	chip := func(kind tone, k, word string) string {
		if !armed || r.writing {
			kind, k = quiet, "…"
		}
		return t.chip(kind, k+"  "+word)
	}
	var chips []string
	if r.problem == nil {
		chips = append(chips, chip(okay, "s", "save"))
		if r.edit.status.IsDeadLetter() {
			chips = append(chips, chip(okay, "r", "save and redrive"))
		}
	}
	chips = append(chips, chip(pick(r.problem == nil, quiet, okay), "e", "go on editing"), chip(quiet, "esc", "throw away"))
	var lines []string
	line := ""
	for _, one := range chips {
		if line != "" && cells(line)+cells(one)+2 > w {
			lines = append(lines, line)
			line = ""
		}
		line += pick(line == "", "", "  ") + one
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines
}

// pointAt shows a place in a line: the part of it around a column, and a mark below.
func pointAt(t *theme, line string, column, w int) []string {
	letters := []rune(line)
	at := max(min(column-1, len(letters)), 0)
	from := max(at-w/2, 0)
	before := safe.Text(string(letters[from:at]))
	shown := before + safe.Text(string(letters[at:min(at+w, len(letters))]))
	return []string{
		"  " + safe.Fit(shown, max(w-2, 0)),
		"  " + t.alarm.draw(safe.Fit(strings.Repeat(" ", safe.Width(before))+"▲", max(w-2, 0))),
	}
}

// newThrowAway asks whether what was typed may go.
func newThrowAway(a *app, e *edit) *confirm {
	return &confirm{
		title: "THROW THE EDIT AWAY", grave: true,
		subject: func() []string { return []string{a.pic.theme.text.draw("the edited payload of job " + itoa(e.id))} },
		says:    "What you typed is lost. The job stays as it is.",
		yes:     "throw it away", no: "go back",
		do: func() tea.Cmd {
			if r, ok := a.dialogs.Top().(*reviewDialog); ok && r.edit == e {
				a.dialogs.Pop()
			}
			a.drafts.open = nil
			a.say(quiet, "thrown away: nothing was written")
			return a.io(func(context.Context) tea.Msg { e.draft.Remove(); return nil })
		},
	}
}

// lateDialog says that an edit came too late, and where the text is.
type lateDialog struct{ editedMsg }

func newLate(m editedMsg) *lateDialog { return &lateDialog{m} }

// Heading is the dialog's title.
func (l *lateDialog) Heading() heading { return heading{name: "NOT WRITTEN: JOB " + itoa(l.edit.id)} }

// Grave is set: it must be seen.
func (l *lateDialog) Grave() bool { return true }

// Move does nothing.
func (l *lateDialog) Move(motion) {}

// Keys close it.
func (l *lateDialog) Keys(a *app) []action {
	return []action{key("enter", "close", "", func() tea.Cmd { a.dialogs.Pop(); return nil })}
}

// Lines draws it.
func (l *lateDialog) Lines(t *theme, w, h int, _ bool) []string {
	says := l.err.Error() + ". Nothing was written."
	if errors.Is(l.err, queue.ErrEdited) {
		says = "Somebody else changed the job while you were editing. " + says
	}
	lines := []string{""}
	for _, line := range wrap(says, w) {
		lines = append(lines, t.text.draw(line))
	}
	lines = append(lines, "")
	for _, line := range wrap("Your text is kept, secrets and all, in", w) {
		lines = append(lines, t.text.draw(line))
	}
	for _, line := range wrap(l.edit.draft.Path, w) {
		lines = append(lines, t.lead.draw(line))
	}
	lines = append(lines, "", t.dim.draw(safe.Fit("delete it when you are done · enter closes", w)), "")
	return lines[:min(len(lines), max(h, 0))]
}
