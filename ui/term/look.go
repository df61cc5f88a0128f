package term

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// updateTime is how long a synchronized update may take before the screen is
// looked at anyway, as in real terminals.
const updateTime = time.Second

// lock takes the mutex when no synchronized update is under way, so that no
// half-drawn frame is seen.
func (t *Term) lock() {
	deadline := time.NewTimer(updateTime)
	defer deadline.Stop()
	for {
		t.mu.Lock()
		if !t.drawing {
			return
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-deadline.C:
			t.mu.Lock()
			return
		}
	}
}

// Frame returns a copy of what the screen shows now.
func (t *Term) Frame() *Frame {
	t.lock()
	defer t.mu.Unlock()
	return t.frame()
}

func (t *Term) frame() *Frame {
	f := newFrame(t.screen, t.screen.Width(), t.screen.Height())
	f.Foreground, f.Background = t.screen.ForegroundColor(), t.screen.BackgroundColor()
	f.Title = t.title
	if !t.screen.CursorHidden() {
		at := t.screen.CursorPosition()
		f.Cursor = &at
	}
	return f
}

// Screen returns the text on the screen, lines trimmed on the right.
func (t *Term) Screen() string { return t.Frame().Text() }

// ANSI returns the screen with its colours as escape sequences.
func (t *Term) ANSI() string {
	t.lock()
	defer t.mu.Unlock()
	return t.screen.Render()
}

// Title returns the window title the program set.
func (t *Term) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.title
}

// Alt reports whether the program is in the alternate screen.
func (t *Term) Alt() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.IsAltScreen()
}

// Written returns how many bytes the program has written so far. Two readings
// give the bytes per second of an idle dashboard.
func (t *Term) Written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Recent returns the last bytes the program wrote, a megabyte at most, to
// look for what a screen does not show: a clipboard write, a reset.
func (t *Term) Recent() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.recent)
}

// WaitFor waits until text stands on the screen. The error shows the screen.
func (t *Term) WaitFor(text string, timeout time.Duration) error {
	return t.Wait(fmt.Sprintf("%q", text), timeout, func(f *Frame) bool {
		return strings.Contains(f.Text(), text)
	})
}

// lookAgain is between two looks at a screen that does not change: what is waited
// for may be beside it, as in the database.
const lookAgain = 100 * time.Millisecond

// Wait waits until seen says yes to the screen. It looks whenever the screen
// changed, now and then, and once more when the program has ended. What is waited
// for stands in the error.
func (t *Term) Wait(what string, timeout time.Duration, seen func(*Frame) bool) error {
	deadline, again := time.NewTimer(timeout), time.NewTicker(lookAgain)
	defer deadline.Stop()
	defer again.Stop()
	for {
		t.lock()
		f, changed := t.frame(), t.changed
		t.mu.Unlock()
		if seen(f) {
			return nil
		}
		select {
		case <-changed:
		case <-again.C:
		case <-t.exited:
			if f = t.Frame(); seen(f) {
				return nil
			}
			return fmt.Errorf("the program ended (%v) without %s; it left\n%s", t.state, what, f.Text())
		case <-deadline.C:
			return fmt.Errorf("no %s within %v on\n%s", what, timeout, f.Text())
		}
	}
}

// Watch calls see with the screen as it is, and again whenever it changed,
// until the context or the program ends. What changed while see was at work is
// seen as one change.
func (t *Term) Watch(ctx context.Context, see func(*Frame)) {
	for {
		t.lock()
		f, changed := t.frame(), t.changed
		t.mu.Unlock()
		see(f)
		select {
		case <-changed:
		case <-t.exited:
			see(t.Frame())
			return
		case <-ctx.Done():
			return
		}
	}
}

// Quiet waits until the program has written nothing for d.
func (t *Term) Quiet(d, timeout time.Duration) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(d):
			return nil
		case <-t.exited:
			return nil
		case <-deadline.C:
			return fmt.Errorf("the program was never quiet for %v within %v", d, timeout)
		}
	}
}
