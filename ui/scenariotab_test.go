package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/term"
	"github.com/leasetop/leasetop/workers/scenario"
)

// theatreAt is a dashboard with the Scenarios tab in front.
func theatreAt(t *testing.T, why string, width, height int) (*stage, *theatre) {
	t.Helper()
	w := newWorld()
	h := &theatre{world: w, why: why}
	s := newStage(t, w, width, height, inTheatre(h))
	s.openTab("Scenarios")
	t.Cleanup(func() {
		if h.last != nil {
			h.last.end()
		}
	})
	return s, h
}

const notMarked = "database shop is not marked for demonstrations: run ALTER DATABASE shop SET leasetop.demonstration = on, as a superuser, and connect again"

// pooled is why not even what keeps to a queue of its own is played.
const pooled = "a pooler stands between"

// TestScenariosTabIsDrawn compares the list with its drawings.
func TestScenariosTabIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		for name, c := range map[string]struct {
			why  string
			keys []string
		}{
			"for demonstrations": {"", nil},
			"not here":           {notMarked, []string{"j"}},
			"asked":              {notMarked, []string{"enter"}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s, h := theatreAt(t, c.why, size[0], size[1])
				if c.why == "" {
					s.app.plays.ended = map[string]outcome{"crash": {scenario.Passed, 4100 * time.Millisecond}, "race": {scenario.Failed, 9 * time.Second}}
				}
				s.press(c.keys...)
				s.pass(time.Second)
				term.Golden(t, s.screen())
				if log := h.log(); size[0] >= leastWidth && size[1] >= leastHeight && log != pick(c.why == "", "may server", "may server; may queue") {
					t.Errorf("it asked: %s", log)
				}
			})
		}
	}
}

// On a database of somebody's only what keeps to a queue is played, after a question
// that names where.
func TestSomebodysDatabaseIsAskedAbout(t *testing.T) {
	t.Parallel()
	s, h := theatreAt(t, notMarked, 120, 36)
	s.press("j", "enter")
	s.sees("play: it needs a schema of its own: database shop is not marked", "not here")
	s.press("k", "enter")
	s.sees("PLAY CRASH ON A DATABASE THAT IS NOT FOR DEMONSTRATIONS", "shop at db1, schema leasetop", "crash-…", "two empty tables")
	if log := h.log(); log != "may server; may queue" {
		t.Errorf("before the answer: %s", log)
	}
	s.later("esc")
	s.press("enter")
	s.later("y")
	s.sees("YOUR TURN")
	if log := h.log(); log != "may server; may queue; play crash by 0" {
		t.Errorf("after it: %s", log)
	}
}

// Where nothing at all can be played, as behind a pooler, that is said at once, and nobody
// is asked.
func TestNothingIsOfferedWhereNothingCanBePlayed(t *testing.T) {
	t.Parallel()
	s, h := theatreAt(t, pooled, 120, 36)
	s.press("enter")
	s.sees("play: it needs a queue of its own: "+pooled, "not here")
	s.seesNot("PLAY CRASH")
	if log := h.log(); strings.Contains(log, "play crash") {
		t.Errorf("it is played: %s", log)
	}
}

// What may be done here is asked again when there was no answer, and not for ever.
func TestGroundIsAskedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := &theatre{world: w}
	w.down = errNoPlay
	s := newStage(t, w, 120, 36, inTheatre(h))
	s.openTab("Scenarios")
	s.press("enter")
	s.sees("it is not known whether this database is for demonstrations: too many connections")
	w.down = nil
	s.press("j", "k")
	if log := h.log(); log != "may server" {
		t.Errorf("at once it asked again: %s", log)
	}
	s.pass(afterError)
	s.pass(time.Second)
	if log := h.log(); log != "may server; may server" {
		t.Errorf("after an error it asked: %s", log)
	}
	s.press("enter")
	s.sees("YOUR TURN")
}

func TestReadOnlyDatabasePlaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Server.ReadOnly = true
	h := &theatre{world: w}
	s := newStage(t, w, 120, 36, inTheatre(h))
	s.openTab("Scenarios")
	s.press("enter")
	s.sees("play: this database is read-only for app")
}

func TestNoScenariosWithoutATheatre(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.openTab("Scenarios")
	s.sees("No scenario can be played from this dashboard.")
	s.press("enter", "j", "G")
	s.sees("No scenario can be played from this dashboard.")
}

// A play goes on while its page is left: every tab says so, and the tab's number opens it.
func TestPlayGoesOnWhenItsPageIsLeft(t *testing.T) {
	t.Parallel()
	s, h := theatreAt(t, "", 120, 36)
	s.press("enter", "esc")
	s.stands(crashPicture(scenario.Waiting, 1))
	for _, tab := range []string{"Overview", "Jobs", "Dead letters", "Workers", "Events"} {
		s.openTab(tab)
		s.sees("▶ crash  step 2 of 3  waits for you", "5 opens")
	}
	s.openTab("Scenarios")
	s.sees("We kill w1 in the middle of its job.")
	s.seesNot("5 opens")
	s.press("esc")
	s.sees("▶ step 2/3")
	s.press("j", "enter")
	s.sees("play: crash goes on: o opens it, S stops it")
	s.press("1")
	s.stands(passedPicture())
	s.sees("✓ crash: passed in 9.0 s")
	s.seesNot("▶ crash")
	s.press("5")
	s.sees("✓ 9.0 s")
	s.press("o")
	s.sees("PASSED")
	if log := h.log(); log != "may server; play crash by 0" {
		t.Errorf("it did: %s", log)
	}
}

func TestPlayThatCannotBeginSaysWhy(t *testing.T) {
	t.Parallel()
	s, h := theatreAt(t, "", 120, 36)
	h.down = errNoPlay
	s.press("enter")
	s.sees("crash was not played: too many connections")
	h.down = nil
	s.press("enter")
	s.sees("YOUR TURN")
}

// With a play open no other begins: the list says so before a key is pressed, and what
// helps, which works there.
func TestListSaysWhatAnOpenPlayForbids(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, h := theatreAt(t, "", size[0], size[1])
		s.press("enter", "esc")
		s.seesNot("goes on:")
		s.press("j")
		s.sees("! crash goes on: o opens it, S stops it", "o open crash", "S stop it", "o opens")
		s.press("enter")
		s.sees("play: crash goes on: o opens it, S stops it")
		s.press("o")
		s.sees("YOUR TURN")
		s.press("esc", "S")
		if log := h.log(); !strings.HasSuffix(log, "; stop") {
			t.Errorf("it did: %s", log)
		}
		pic := crashPicture(scenario.CleaningUp, 1)
		s.stands(pic)
		s.sees("crash is ending")
	}
}

// The program ends when the play's world is taken down, and says what it waits for.
func TestQuittingStopsThePlayFirst(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"q", "ctrl+c"} {
		s, h := theatreAt(t, "", 120, 36)
		s.press("enter")
		s.press(key)
		s.sees("STOPPING CRASH", "Then leasetop quits.")
		if log := h.log(); !strings.HasSuffix(log, "; stop") {
			t.Errorf("%s: it did: %s", key, log)
		}
		p := s.app.plays.now
		pic := cancelledPicture()
		pic.Version = 99
		if _, cmd := s.app.Update(playMsg{p, pic}); !quits(cmd) {
			t.Errorf("%s: it does not quit when the play is over", key)
		}
		// Who does not want to wait presses again; and nobody waits for ever.
		for what, msg := range map[string]tea.Msg{"again": keyPress(key), "the time is over": leaveMsg{}} {
			if _, cmd := s.app.Update(msg); !quits(cmd) {
				t.Errorf("%s, %s: it does not quit", key, what)
			}
		}
	}
}
