package ui

import (
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/filter"
)

// typingPause is how long nothing must be typed before a filter is applied: each time, the
// database is asked.
const typingPause = 200 * time.Millisecond

// filterLine is the line in which a person says which jobs are meant, in the language of
// package filter. It is applied as it is typed, after a short pause, as soon as it can be
// understood; what is shown meanwhile is what was understood last.
type filterLine struct {
	typing  *input          // nil when nothing is being typed
	text    string          // as it is typed, or was kept
	read    filter.Filter   // the text, understood
	wrong   *filter.Mistake // what cannot be meant; nil when all can
	applied filter.Filter   // what is shown
	version int             // counts up with every other filter that is applied

	dirty   bool      // what was read is not applied yet
	due     time.Time // when it will be, where the pause has begun
	offers  []filter.Completion
	offered offer // what was completed last
}

// offer is a completion under way: tab goes from one to the next.
type offer struct {
	text  string // what is completed
	all   []filter.Completion
	at    int    // the one that stands in the line
	shown string // the line with it
}

// Input is what is being typed.
func (l *filterLine) Input() *input { return l.typing }

// Open begins to type, behind what stands there.
func (l *filterLine) Open() {
	l.typing = &input{text: l.text, at: len(l.text)}
	l.offers = nil
}

// Typed reads what was changed in the input. It is applied after a pause.
func (l *filterLine) Typed(known func() filter.Known) {
	l.take(l.typing.text)
	l.dirty, l.due = l.wrong == nil, time.Time{}
	if l.typing.text != l.offered.shown {
		l.offered = offer{}
	}
	l.offers = filter.Complete(l.typing.text, l.typing.at, known())
}

// take reads a text.
func (l *filterLine) take(text string) {
	l.text, l.wrong = text, nil
	read, err := filter.Parse(text)
	switch {
	case err == nil:
		l.read = read
	case !errors.As(err, &l.wrong):
		l.wrong = &filter.Mistake{To: len(text), Says: err.Error()}
	}
}

// Set shows what a text says at once, or everything for none.
func (l *filterLine) Set(text string) {
	l.take(strings.TrimSpace(text))
	l.typing = nil
	if l.wrong == nil {
		l.apply()
	}
}

func (l *filterLine) apply() {
	l.dirty, l.due = false, time.Time{}
	if l.read.String() != l.applied.String() {
		l.version++
	}
	l.applied = l.read
}

// Load applies what was typed when nothing more was for a while, and returns the command
// that waits for that.
func (l *filterLine) Load(a *app) tea.Cmd {
	now := a.now()
	switch {
	case !l.dirty:
	case l.due.IsZero():
		l.due = now.Add(typingPause)
		return a.after(typingPause, wakeMsg{})
	case !now.Before(l.due):
		l.apply()
	}
	return nil
}

// complete goes on with the text as the likeliest offer says, or with the next one.
func (l *filterLine) complete(known func() filter.Known) {
	o := &l.offered
	if strings.TrimSpace(l.typing.text) == "" && len(l.offers) == 0 { // it names them; again takes the first
		l.offers = filter.Complete(l.typing.text, l.typing.at, known())
		return
	}
	if l.cycling() {
		o.at = (o.at + 1) % len(o.all)
	} else {
		*o = offer{text: l.typing.text, all: filter.Complete(l.typing.text, l.typing.at, known())}
	}
	if len(o.all) == 0 {
		return
	}
	one := o.all[o.at]
	o.shown = o.text[:one.From] + one.Text + o.text[one.To:]
	if len(o.shown) > typedMost {
		l.typing.full = true
		return
	}
	l.typing.text, l.typing.at = o.shown, one.From+len(one.Text)
	l.Typed(known)
}

// Keys are what keys do while something is typed; other keys are letters.
func (l *filterLine) Keys(known func() filter.Known) []action {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	wrong := ""
	if l.wrong != nil {
		wrong = l.wrong.Error()
	}
	return []action{
		key("enter", "keep", "keep the filter", do(func() { l.Set(l.text) })).unless(wrong),
		key("tab", "complete", "complete the word, or try the next completion", do(func() { l.complete(known) })),
		l.clearKey(),
	}
}

// openKey begins to type a filter.
func (l *filterLine) openKey() action {
	return key("/", "filter", `choose by words: queue:emails kind:send error:"421" attempts:>3 age:>1h payload.to:ann@example.com !error:timeout, or any text`, func() tea.Cmd {
		l.Open()
		return nil
	})
}

// clearKey takes the filter away.
func (l *filterLine) clearKey() action {
	return key("esc", "clear", "show all again: take the filter away", func() tea.Cmd {
		l.Set("")
		return nil
	})
}
