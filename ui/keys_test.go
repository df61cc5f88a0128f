package ui

import (
	"fmt"
	"strings"
	"testing"
)

// A key that means one thing on one page means nothing else on another: it does that
// everywhere, or says where.
func TestPlansAndPauseHaveOneKeyEach(t *testing.T) {
	t.Parallel()
	for _, page := range [][]string{{"1"}, {"1", "tab"}, {"2"}, {"3"}, {"3", "tab"}, {"3", "tab", "enter"}, {"4"}, {"5"}, {"L"}} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(page...)
		s.press("P")
		if c, ok := s.app.dialogs.Top().(*confirm); ok != (len(page) == 1 && page[0] == "1") || ok && !strings.HasPrefix(c.title, "PAUSE QUEUE") {
			t.Errorf("%v: P asks %+v", page, c)
		} else if ok {
			s.later("esc")
		} else {
			s.sees("P: a queue is paused in QUEUES, on the overview (1)")
		}
		s.press("l")
		if _, ok := s.app.page().(*planList); !ok {
			t.Errorf("%v: l opens %T", page, s.app.page())
		}
		s.press("l")
		s.sees("it is open")
	}
}

// No page has two actions on one key, and no key of a page stands in the help twice.
func TestHelpNamesAKeyOnce(t *testing.T) {
	t.Parallel()
	for _, page := range [][]string{{"1"}, {"2"}, {"3"}, {"3", "tab"}, {"3", "tab", "enter"}, {"4"}, {"5"}, {"L"}, {"l"}} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(page...)
		seen := map[string]bool{}
		for _, one := range append(s.app.page().Keys(s.app), s.app.globalKeys()...) {
			if k := fmt.Sprint(one.keys[0]); seen[k] {
				t.Errorf("%v: %s stands twice", page, k)
			} else {
				seen[k] = true
			}
		}
	}
}
