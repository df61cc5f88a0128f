package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

var planSizes = [][2]int{{120, 36}, {80, 24}, {60, 20}}

// someDead are the newest of the world's dead letters, and two that are none any more.
func (s *stage) someDead(n int) deadSet {
	set := deadSet{filter: `queue:emails kind:send error:"421"`}
	for i := range n {
		set.ids = append(set.ids, s.state.Dead.Latest[i].ID)
	}
	set.ids = append(set.ids, 1, 2)
	set.says = []string{s.app.pic.theme.text.draw(fmt.Sprint(len(set.ids), " dead letters match")), "", s.app.pic.theme.accent.draw(set.filter)}
	return set
}

// asks opens the form about some dead letters, and waits until it listens.
func (s *stage) asks(n int) {
	s.t.Helper()
	s.run(s.app.askPlan(s.someDead(n)))
	s.now = s.now.Add(swallow)
	s.send(wakeMsg{})
}

func TestPlanFormIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range planSizes {
		for _, c := range []struct {
			name string
			keys []string
		}{
			{"form", nil},
			{"then", []string{"tab"}},
			{"mistake", []string{"9", "9"}},
			{"reason", []string{"shift+tab", "shift+tab", "4", "2", "1", "s", "space", "y", "d"}},
			{"button", []string{"y"}},
			{"dry run", []string{"d"}},
			{"statements", []string{"s"}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, newWorld(), size[0], size[1])
				s.press("3")
				s.asks(30)
				s.press(c.keys...)
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestPlanFormStartsWhatItSays(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.asks(2)
	// Of four jobs the canary proposed is all of them.
	s.sees("4 jobs, 50 a second", "nothing: these are all of them")
	s.press("backspace", "1", "tab", "space", "tab", "backspace", "backspace", "2", ".", "5", "tab", "backspace", "backspace", "tab", "o", "k", "y")
	s.sees("1 first. When it has ended, it goes on by itself with 3 jobs, 2.5 a second", "It does not stop when they die again")
	s.press("enter")
	if got := s.log(); got != "" {
		t.Fatalf("enter in the last field did %q", got)
	}
	s.press("enter")
	if got, want := s.log(), "redrive [88007 87994 1 2] by ann@shop1 canary 1 wait false pace 2.5 stop never because oky"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("PLAN 14", "started   by ann@shop1")
}

func TestPlanFormRefusesWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []string
		says string
	}{
		{[]string{"9"}, "there are only 12 jobs"},
		{[]string{"tab", "tab", "."}, "50. is"},
		{[]string{"tab", "tab", "backspace", "backspace", "0"}, "leave the pace empty"},
		{[]string{"tab", "tab", "9", "9", "9", "9", "9"}, "at most 1,000,000"},
		{[]string{"tab", "tab", ".", "."}, "50.. is no number of jobs a second"},
		{[]string{"tab", "tab", "tab", "1"}, "at most 100 % can die again"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.asks(10)
		s.press(c.keys...)
		if c.says == "50. is" { // that is 50
			s.starts()
			if s.log() == "" {
				t.Errorf("%v: 50. is refused", c.keys)
			}
			continue
		}
		s.sees(c.says)
		s.starts()
		if got := s.log(); got != "" {
			t.Errorf("%v: did %s", c.keys, got)
		}
		s.sees(c.says)
	}
}

// Nought is the strictest wish, and an empty field is none.
func TestPlanFormTakesNoughtForNone(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.asks(10)
	s.press("tab", "tab", "tab", "backspace", "backspace", "0")
	s.sees("and none died again", "stops by itself when one of them is")
	s.starts()
	if got := s.log(); !strings.HasSuffix(got, "stop 0") {
		t.Errorf("did %q", got)
	}
}

// CASES "Paste": what is pasted fills a field at most, also into a terminal that sends it as keys.
func TestPasteIntoThePlanFormStartsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.asks(10)
	s.app.pasted("dy\nrk\n7")
	s.sees("try first            57", "only 12 jobs")
	s.press("backspace")
	s.press("d", "y", "enter", "r", "k", "enter")
	s.press("esc")
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
}

func TestPlanFormWithoutADryRunStillStarts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	w.down = context.DeadlineExceeded
	s.asks(10)
	s.sees("! not tried: context deadline exceeded")
	w.down = nil
	s.starts()
	s.sees("PLAN 14")
}

// The ids of the set are sent as they were when the question was put.
func TestPlanFormActsOnTheSetItWasOpenedWith(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.asks(1)
	s.bury(90001)
	s.refresh()
	s.sees("REDRIVE 3 DEAD LETTERS")
	s.starts()
	if got, want := s.log(), "redrive [88007 1 2] by ann@shop1 canary 0 wait false pace 50 stop 20"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
}

func TestReadOnlyDatabaseStartsNoPlan(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Server.ReadOnly = true
	s := newStage(t, w, 120, 36)
	s.asks(10)
	s.starts()
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
	s.sees("read-only")
}
