package ui

import "testing"

// A pane that nobody moves in shows its first rows, and whoever comes to it begins there.
func TestCursorBeginsAtTheTopOfAPane(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	for id := int64(90001); id < 90010; id++ {
		s.bury(id)
		s.refresh()
	}
	s.press("tab", "tab")
	s.sees("▸    0s 90009")
	s.bury(90010)
	s.refresh()
	s.sees("▸    0s 90009") // from then on it stays on its job
}
