package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
)

func TestWordsNarrowTheListWhileTheyAreTyped(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.happens(watch.Event{What: watch.Claimed, JobID: 1, Queue: "emails-slow", Kind: "send"}, watch.Event{What: watch.Claimed, JobID: 2, Queue: "reports"})
	all := len(s.listed())
	s.press("/")
	for _, step := range []struct{ typed, want string }{
		{"q", ""}, {"ueue:rep", "2 reports"}, {" ", ""}, {"\b", "2 reports"},
	} {
		if step.typed == "\b" {
			s.press("backspace")
		} else {
			s.typeText(step.typed)
		}
		if got := strings.Join(s.listed(), "\n"); step.want == "" && got != "" && step.typed == " " || !strings.Contains(got, step.want) {
			t.Errorf("after %q the list is\n%s", step.typed, got)
		}
	}
	// What is kept is what was shown, and says so.
	s.press("enter")
	s.sees("/ queue:rep*", " 2  reports", "1 of ")
	s.press("/")
	s.typeText(",emails")
	s.press("enter")
	s.sees("/ queue:rep*,emails")
	s.seesNot("emails-slow", "images")
	s.press("/", "esc")
	if got := len(s.listed()); got != all {
		t.Errorf("%d rows after esc, want all %d", got, all)
	}
	s.press("/")
	s.typeText("lease ran out")
	s.press("enter")
	if got := s.listed(); len(got) != 1 || !strings.Contains(got[0], "reap ↩ reclaimed 87001 images w5") {
		t.Errorf("found %q", got)
	}
	s.press("esc")
	s.seesNot("/ lease")
}

func TestCursorComesBackToItsEventAfterAFilter(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.press("k", "k", "k", "k", "k")
	was := s.cursor()
	s.press("/")
	s.typeText("what:enqueued")
	if got := s.cursor(); got == was || got == "" {
		t.Errorf("the cursor is on %q", got)
	}
	s.press("esc")
	if got := s.cursor(); got != was {
		t.Errorf("the cursor is on %q, was on %q", got, was)
	}
}

// While something is typed keys are letters: none acts, pasted text neither.
func TestTypedAndPastedKeysOnlyFilter(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.send(tea.PasteMsg{Content: "dy\nrk\n"})
	s.press("/")
	s.typeText("qpbxK1?")
	s.send(tea.PasteMsg{Content: "dy\nrk\r\n\tq"})
	s.sees("/ qpbxK1?dy rk  q")
	if got := s.log(); got != "" || s.app.frozen || s.app.tabs[s.app.open].name != "Events" {
		t.Errorf("typing did %q, frozen %v", got, s.app.frozen)
	}
	s.send(tea.PasteMsg{Content: strings.Repeat("x", 10_000)})
	s.sees("no room for that: at most 1,000 letters", "/ qpbxK1?dy rk  q")
	if _, cmd := s.app.Update(keyPress("ctrl+c")); !quits(cmd) {
		t.Error("ctrl+c does not quit while something is typed")
	}
	s.press("esc")
	s.seesNot("qpbx", "no room")
}

func TestMistakeIsNotKept(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.press("/")
	s.typeText("qeue:emails")
	s.sees("! qeue: is no key (what, queue, kind, job, worker are)", "34") // and everything is still shown
	s.press("enter")
	s.sees("keep: qeue: is no key")
	s.press("home")
	s.press("right")
	s.typeText("u")
	s.sees("/ queue:emails")
	s.seesNot("  ! qeue")
	s.press("enter")
	s.sees("/ queue:emails")
}

// A list that is narrowed does not say that it is everything, and what is missing can be
// asked for like what is there.
func TestNarrowedListSaysSo(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.happens(watch.Event{Seq: 1234, What: watch.Completed, JobID: 89000, Queue: "emails"})
	s.sees(" everything ", "· 1,234 missed", "1,234 events are gone: another tab was open, or this list stood still")
	s.press("/")
	s.typeText("what:missed")
	s.press("enter")
	s.sees(" filtered ", "EVENTS 1 of ", "missed ")
	if rows := s.listed(); len(rows) != 1 || !strings.Contains(rows[0], "1,234 events") {
		t.Errorf("listed are %q", rows)
	}
	s.seesNot("everything", "nothing is called")
	s.press("v")
	s.sees("without routine, filtered")
	s.press("esc")
	s.sees("without routine ")
	s.seesNot("filtered")
}
