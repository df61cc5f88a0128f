package ui

import (
	"fmt"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/queue/alert"
)

// u takes back the latest act of this dashboard, whichever kind it is, and says which.
func TestUndoTakesBackTheLatestAct(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "u")
	s.sees("nothing was redriven or discarded from this dashboard yet")
	s.press("r")
	s.later("y")
	s.sees("(plan 14) · u undoes")
	s.press("j", "space", "space", "D")
	s.discards()
	s.sees("discarded 2 · u undoes")
	took := s.app.undoables[1].ids
	s.asked = nil
	s.press("u")
	s.sees("UNDO THE DISCARD OF 2 JOBS", "restore 2 jobs")
	s.later("y")
	if got, want := s.log(), fmt.Sprintf("restore %v by ann@shop1", took); got != want {
		t.Fatalf("u did %q, want %q", got, want)
	}
	s.sees("restored 2: dead letters again")
	if a := s.entered(); a.What != "restore" || a.Done != 2 || len(a.IDs) != 2 || a.Reason != "undo of the discard of 2 jobs" {
		t.Errorf("entered %+v", a)
	}
	s.press("u")
	s.sees("UNDO PLAN 14")
}

// An entry of the log can be undone where it is a redrive or a discard.
func TestUndoOfAnEntryOfTheLog(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "D")
	s.discards()
	id := s.app.undoables[0].ids[0]
	s.asked = nil
	s.press("L")
	s.press("u")
	s.sees("UNDO THE DISCARD OF 1 JOB, ENTRY")
	s.later("y")
	if got, want := s.log(), fmt.Sprintf("restore [%d] by ann@shop1", id); got != want {
		t.Fatalf("u did %q, want %q", got, want)
	}
	s.press("u")
	s.sees("nothing is in the archive any more")
	s.press("j", "u")
	s.sees("only a redrive and a discard can be undone")
}

// What has no filter is not said to match one, and what acts on one row of many says so.
func TestLabelsSayHowManyAreActedOn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(2000)
	s := newStage(t, w, 160, 40)
	s.press("3", "*")
	s.sees("redrive all ")
	s.seesNot("redrive all matching")
	s.press("esc")
	s.filters("error:template")
	s.press("enter", "*")
	s.sees("redrive all matching")
	s.press("esc", "tab")
	s.sees("r redrive 1 ", "R plan 1 ", "D discard 1 ")
	s.press("R")
	s.sees("REDRIVE 1 DEAD LETTER", "this one alone: esc, then * marks all 1,000 that match")
	s.later("esc")
	for range 1100 {
		s.press("space")
	}
	s.sees("redrive 1,000 marked")
}

// A key that works on other pages is silent on none.
func TestKeysOfAJobsPageSayWhyNotAmongDeadLetters(t *testing.T) {
	t.Parallel()
	for _, c := range [][]string{{"3", "e"}, {"3", "X"}, {"3", "tab", "X"}} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(c...)
		s.sees("! " + c[len(c)-1] + ": ")
		s.press("esc")
		s.seesNot("! " + c[len(c)-1] + ": ") // what was said is read
	}
}

func TestPlanFormExplainsItsKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.asks(10)
	s.press("?")
	s.sees("KEYS", "and at last the button", "the statements that are executed")
	s.press("?")
	s.sees("REDRIVE 12 DEAD LETTERS")
	s.seesNot("KEYS")
}

func TestTabOnAnEmptyFilterNamesTheWords(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "/")
	s.sees("tab names the words there are")
	s.press("tab")
	s.sees("tab  queue:", "kind:", "error:")
	if s.app.typing().Input().text != "" {
		t.Errorf("tab typed %q", s.app.typing().Input().text)
	}
	s.press("tab")
	if got := s.app.typing().Input().text; got != "queue:" {
		t.Errorf("tab twice typed %q", got)
	}
}

// Two queues with jobs of one kind are told apart in a narrow window.
func TestQueuesOfOneKindDoNotLookAlike(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 80, 24)
	s.press("3")
	found := s.app.deadTab.groups.found
	found.Groups = found.Groups[:2]
	for i, name := range []string{"notifications_eu", "notifications_us"} {
		found.Groups[i].Queue, found.Groups[i].Kind = name, "send_winback"
	}
	s.send(groupsMsg{choice: s.app.deadTab.groups.choice, at: s.now, found: found})
	s.sees("eu/send_winback", "us/send_winback")
}

// The count beside the tab and that of the alert are of one moment.
func TestAlertAndTabCountTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.app.alarm.Limits = alert.Limits{alert.Dead: 10}
	s.pull()
	state := *w.state
	state.Depths.Queues = slices.Clone(state.Depths.Queues)
	state.Depths.Queues[0].Dead += 4000
	s.send(pulledMsg{state: &state})
	n, _ := s.app.pic.deadLetters()
	s.sees("3 Dead letters " + thousands(n))
	if one := s.app.alarm.Alerts()[0]; int64(one.Figure.Value) != n || n < 4000 {
		t.Errorf("the alert counts %v", one.Figure.Value)
	}
}
