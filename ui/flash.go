package ui

import "time"

// flash is the line that says what an action did, for a few seconds.
type flash struct {
	text string
	kind tone
	over time.Time // local clock

	key, why string // of an action that was refused: which, and why
}

// How long a flash stands: good news is read at a glance, a refusal or an error
// has to be understood.
const (
	flashShort = 5 * time.Second
	flashLong  = 12 * time.Second
)

// Say shows a new line.
func (f *flash) Say(kind tone, text string, now time.Time) {
	stay := flashShort
	if kind != okay {
		stay = flashLong
	}
	*f = flash{text: text, kind: kind, over: now.Add(stay)}
}

// Expire takes the line away when its time is over, and reports whether it did.
func (f *flash) Expire(now time.Time) bool {
	if f.text == "" || now.Before(f.over) {
		return false
	}
	*f = flash{}
	return true
}

// View draws the line, "" when there is none.
func (f *flash) View(t *theme) string {
	if f.text == "" {
		return ""
	}
	switch f.kind {
	case okay:
		return t.good.draw("✓") + " " + f.text
	case caution:
		return t.warn.draw("!") + " " + f.text
	case danger:
		return t.bad.draw("✗") + " " + f.text
	}
	return t.accent.draw("·") + " " + f.text
}
