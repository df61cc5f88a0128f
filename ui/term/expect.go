package term

import (
	"strings"
	"testing"
	"time"
)

// Patience is how long a Test waits for what it expects: long enough for a
// loaded machine and the race detector, since a passing test never waits it out.
const Patience = time.Minute

// Test is a Term whose failures fail a test and show the screen.
type Test struct {
	*Term
	t testing.TB
}

// Open runs a program for the length of a test.
func Open(t testing.TB, o Options) *Test {
	t.Helper()
	tm, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tm.Close)
	return &Test{tm, t}
}

// Expect waits until every one of the texts stands on the screen at once.
func (t *Test) Expect(texts ...string) {
	t.t.Helper()
	t.Until(strings.Join(texts, " · "), func(f *Frame) bool {
		screen := f.Text()
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				return false
			}
		}
		return true
	})
}

// Gone waits until the text no longer stands on the screen.
func (t *Test) Gone(text string) {
	t.t.Helper()
	t.Until("screen without "+text, func(f *Frame) bool { return !strings.Contains(f.Text(), text) })
}

// Until waits until seen says yes to the screen.
func (t *Test) Until(what string, seen func(*Frame) bool) {
	t.t.Helper()
	if err := t.Wait(what, Patience, seen); err != nil {
		t.t.Fatal(err)
	}
}

// Press presses keys by name (see Key).
func (t *Test) Press(names ...string) {
	t.t.Helper()
	if err := t.Term.Press(names...); err != nil {
		t.t.Fatal(err)
	}
}

// Exit waits for the program to end and returns its exit status.
func (t *Test) Exit() int {
	t.t.Helper()
	code, err := t.Term.Exit(Patience)
	if err != nil {
		t.t.Fatal(err)
	}
	return code
}
