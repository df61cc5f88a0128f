package ui

import (
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// dialog is a box over the screen that takes every key while it is open.
type dialog interface {
	// Heading stands in the upper edge.
	Heading() heading
	// Lines draws the inside, at most w cells wide and h lines high. armed is
	// false for the moment in which keys are swallowed.
	Lines(t *theme, w, h int, armed bool) []string
	// Keys are what the dialog's keys do; esc is added by the stack.
	Keys(a *app) []action
	// Move moves the cursor, or scrolls.
	Move(m motion)
	// Grave dialogs are about something that cannot be taken back.
	Grave() bool
}

// dialogs is the stack of open dialogs, the top one in front.
type dialogs struct {
	open []dialog
	deaf time.Time // until then keys are swallowed (local clock)
}

// swallow is how long a dialog does not listen after it opened. A key that was
// meant for the list below, typed ahead or pasted, must never confirm: each
// swallowed key makes the moment last anew.
const swallow = 300 * time.Millisecond

// Push opens a dialog in front of the others.
func (d *dialogs) Push(one dialog, now time.Time) {
	d.open = append(d.open, one)
	d.deaf = now.Add(swallow)
}

// Pop closes the dialog in front.
func (d *dialogs) Pop() {
	if n := len(d.open); n > 0 {
		d.open = d.open[:n-1]
	}
}

// Close closes a dialog, wherever it is.
func (d *dialogs) Close(one dialog) {
	d.open = slices.DeleteFunc(slices.Clone(d.open), func(other dialog) bool { return other == one })
}

// Top returns the dialog in front, or nil.
func (d *dialogs) Top() dialog {
	if n := len(d.open); n > 0 {
		return d.open[n-1]
	}
	return nil
}

// Swallow reports whether a key that arrives now goes nowhere.
func (d *dialogs) Swallow(now time.Time) bool {
	if !now.Before(d.deaf) {
		return false
	}
	d.deaf = now.Add(swallow)
	return true
}

// Armed tells whether the dialog in front listens.
func (d *dialogs) Armed(now time.Time) bool { return !now.Before(d.deaf) }

// over draws the dialogs on a finished screen of w × h.
func (d *dialogs) over(screen []string, t *theme, w, h int, now time.Time) []string {
	for i, one := range d.open {
		boxW := min(w-4, 76)
		if wide, ok := one.(interface{ Width() int }); ok {
			boxW = min(w-4, wide.Width())
		}
		boxH := h - 2
		if w < 24 || h < 7 {
			boxW, boxH = w, h
		}
		armed := i < len(d.open)-1 || d.Armed(now)
		lines := one.Lines(t, max(boxW-4, 0), max(boxH-2, 0), armed)
		for i, line := range lines {
			lines[i] = " " + line
		}
		inner := *t
		if one.Grave() {
			inner.accent, inner.lead = t.bad, t.alarm
		}
		box := inner.boxed(one.Heading(), lines, boxW, min(len(lines)+2, boxH), true)
		x, y := middle(box, boxW, w, h)
		screen = stamp(screen, box, x, y, boxW)
	}
	return screen
}

// stamp lays a drawing of w cells over a screen at x, y.
func stamp(screen, drawing []string, x, y, w int) []string {
	out := append([]string(nil), screen...)
	for i, line := range drawing {
		if y+i < 0 || y+i >= len(out) {
			continue
		}
		under := out[y+i]
		// A wide character may straddle the edge; FitStyled pads what a cut leaves over.
		before := safe.FitStyled(ansi.Cut(under, 0, x), x)
		width := ansi.StringWidth(under)
		after := ansi.Cut(under, x+w, width)
		switch missing := width - x - w - ansi.StringWidth(after); {
		case missing < 0: // a wide character straddles this edge: its half is blank
			after = " " + ansi.Cut(under, x+w+1, width)
		case missing > 0:
			after = safe.FitStyled("", missing) + after
		}
		out[y+i] = before + line + after
	}
	return out
}
