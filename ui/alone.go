package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// alone is how far from every other key one must be that changes something without
// asking. Text that is pasted into a terminal without bracketed paste arrives as keys,
// all within a few milliseconds; nobody types like that.
const alone = 30 * time.Millisecond

// presses counts keys, and knows when the last one came.
type presses struct {
	n    uint64
	last time.Time // local clock
}

// Note takes a key, and reports whether the one before came too shortly before it.
func (p *presses) Note(now time.Time) (together bool) {
	together = now.Sub(p.last) < alone
	p.n, p.last = p.n+1, now
	return together
}

// aloneMsg is that the time after a key is over.
type aloneMsg struct {
	n   uint64 // which key it was
	one action
}

// whenAlone does what an action says unless other keys come with it.
func (a *app) whenAlone(one action, together bool) tea.Cmd {
	if together {
		a.notAlone()
		return nil
	}
	return a.after(alone, aloneMsg{a.presses.n, one})
}

// stoodAlone is told that the time after a key is over.
func (a *app) stoodAlone(m aloneMsg) tea.Cmd {
	if m.n != a.presses.n {
		a.notAlone()
		return nil
	}
	return m.one.do()
}

func (a *app) notAlone() {
	a.say(caution, "keys that came all at once, as pasted text does: nothing was done")
}
