package ui

import (
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// everyScreen opens each page and each dialog in turn.
func everyScreen(s *stage, each func()) {
	for _, keys := range [][]string{
		{"1"},
		{"P"},
		{"esc", "tab"},
		{"C"},
		{"esc"},
		{"tab"},
		{"tab"},
		{"2"},
		{"Q"},
		{"esc", "/"},
		{"q", ":"},
		{"esc", "]"},
		{"s"},
		{"enter"},
		{"esc", "3"},
		{"space"},
		{"r"},
		{"esc"},
		{"enter"},
		{"tab"},
		{"r"},
		{"esc"},
		{"esc"},
		{"3"},
		{"R"},
		{"d"},
		{"esc", "s"},
		{"esc", "shift+tab"},
		{"enter"},
		{"u"},
		{"esc", "C"},
		{"esc", "esc", "P"},
		{"enter"},
		{"esc", "esc"},
		{"4"},
		{"K"},
		{"esc"},
		{"F"},
		{"esc"},
		{"n"},
		{"esc"},
		{"?"},
		{"esc"},
		{"h"},
		{"esc"},
		{"p"},
		{"p"},
	} {
		s.later(keys...)
		each()
	}
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
	s := newStage(t, newWorld(), 500, 200)
	for _, keys := range []string{"1", "2", "Q", "/", "3", "r", "4", "?"} {
		s.later("esc", keys)
		s.screen()
	}
}

func TestRandomResizesWithEveryDialogOpen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	s := newStage(t, newWorld(), 120, 36)
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
