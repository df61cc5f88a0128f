package ui

import (
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// screens are every page and every dialog, each by the keys that open it from the one before.
var screens = []struct {
	front string // how what is opened by the keys begins
	keys  []string
}{
	{"Overview", []string{"1"}},
	{"PAUSE", []string{"P"}},
	{"Overview", []string{"esc", "tab"}},
	{"CANCEL", []string{"C"}},
	{"Overview", []string{"esc"}},
	{"Overview", []string{"tab"}},
	{"Overview", []string{"tab"}},
	{"Jobs", []string{"2"}},
	{"JOBS OF WHICH QUEUE", []string{"Q"}},
	{"Jobs", []string{"esc", "/"}},
	{"Jobs", []string{"q", ":"}},
	{"Jobs", []string{"esc", "]"}},
	{"Jobs", []string{"s"}},
	{"Job", []string{"enter"}},
	{"Dead letters", []string{"esc", "3"}},
	{"Dead letters", []string{"space"}},
	{"REDRIVE", []string{"r"}},
	{"REDRIVE", []string{"esc", "R"}},
	{"REDRIVE", []string{"s"}},
	{"REDRIVE", []string{"esc", "d"}},
	{"REDRIVE", []string{"esc", "shift+tab"}},
	{"DISCARD", []string{"esc", "D"}},
	{"Dead letters", []string{"esc", "esc", "/"}},
	{"Dead letters", []string{"q", ":"}},
	{"Dead letters", []string{"esc", "tab"}},
	{"Dead letters", []string{"v", "j"}},
	{"REDRIVE", []string{"esc", "*", "r"}},
	{"Job", []string{"esc", "esc", "enter"}},
	{"Job", []string{"tab"}},
	{"Job", []string{"z"}},
	{"COPY", []string{"Y"}},
	{"DISCARD", []string{"esc", "D"}},
	{"Operator log", []string{"esc", "L"}},
	{"JOBS OF ENTRY", []string{"G", "enter"}},
	{"Job", []string{"enter"}},
	{"Job", []string{"esc", "esc"}},
	{"REDRIVE", []string{"r"}},
	{"Dead letters", []string{"esc", "esc", "tab"}},
	{"Redrive plans", []string{"l"}},
	{"Redrive plan", []string{"enter"}},
	{"CANCEL", []string{"C"}},
	{"UNDO", []string{"esc", "u"}},
	{"Workers", []string{"esc", "esc", "esc", "4"}},
	{"KILL", []string{"K"}},
	{"FREEZE", []string{"esc", "F"}},
	{"SPAWN", []string{"esc", "n"}},
	{"BREAK SOMETHING", []string{"esc", "B"}},
	{"BREAK: NETWORK PARTITION", []string{"j", "j", "j", "enter"}},
	{"BREAK SOMETHING", []string{"esc"}},
	{"Scenarios", []string{"esc", "5"}},
	{"Scenarios", []string{"j"}},
	{"Events", []string{"6"}},
	{"Events", []string{"/", "x"}},
	{"KEYS", []string{"esc", "?"}},
	{"HEALTH", []string{"esc", "h"}},
	{"Overview", []string{"esc", "1", "p"}},
	{"Overview", []string{"p"}},
}

// show opens the nth of them, at 120×36, and looks that it did.
func (s *stage) show(n int) {
	s.t.Helper()
	if n == 0 && len(s.plans.list) == 0 {
		withPlan(s.world, nil)
	}
	for _, k := range screens[n].keys {
		s.later(k)
	}
	if got := s.front(); !s.astray && s.state.Server.Database == "shop" && !strings.HasPrefix(got, screens[n].front) {
		s.t.Fatalf("%q opens %q, not %q:\n%s", screens[n].keys, got, screens[n].front, s.screen().Text())
	}
}

// everyScreen opens each page and each dialog in turn.
func everyScreen(s *stage, each func()) {
	s.t.Helper()
	for n := range screens {
		s.show(n)
		each()
	}
}

// front is what is in front: a dialog, a page or a tab.
func (s *stage) front() string {
	if top := s.app.dialogs.Top(); top != nil {
		return top.Heading().name
	}
	if p, ok := s.app.page().(named); ok {
		return p.Name()
	}
	return s.app.tabs[s.app.open].name
}

// TestEverySizeIsDrawn shows every page and dialog in windows of every kind: no
// panic, and never a line too long or too many.
func TestEverySizeIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{0, 0}, {1, 1}, {2, 2}, {20, 5}, {59, 20}, {60, 19}, {60, 20}, {61, 21}, {79, 24}, {80, 24}, {81, 24}, {95, 26}, {96, 25}, {96, 26}, {120, 20}, {60, 90}, {300, 20}} {
		s := newStage(t, newWorld(), 120, 36)
		everyScreen(s, func() {
			s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			s.screen()
			s.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		})
	}
}

func TestHugeWindow(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	everyScreen(s, func() {
		s.send(tea.WindowSizeMsg{Width: 500, Height: 200})
		lines := strings.Split(s.app.View().Content, "\n")
		if len(lines) != 200 {
			t.Fatalf("%d lines", len(lines))
		}
		for y, line := range lines {
			if n := ansi.StringWidth(line); n != 500 {
				t.Fatalf("line %d is %d cells wide: %q", y, n, line)
			}
		}
		s.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	})
}

func TestRandomResizesWithEveryDialogOpen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	s := newStage(t, newWorld(), 120, 36)
	s.astray = true
	everyScreen(s, func() {
		for range 8 {
			s.send(tea.WindowSizeMsg{Width: random.IntN(140), Height: random.IntN(60)})
			s.screen()
			s.send(keyPress([]string{"j", "G", "k", "g", "ctrl+d", "ctrl+u"}[random.IntN(6)]))
			s.screen()
		}
		s.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	})
}

func TestSmallWindowStillQuits(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 30, 8)
	s.sees("needs 60×20", "30×8")
	s.press("4", "K", "y") // nothing is seen, so nothing is done
	if got := s.log(); got != "" {
		t.Errorf("in a window too small to see anything it did: %s", got)
	}
	if _, cmd := s.app.Update(keyPress("q")); !quits(cmd) {
		t.Error("q does not quit")
	}
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			if quits(c) {
				return true
			}
		}
	}
	return false
}
