package ui

import (
	"errors"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/term"
)

func TestOperatorLogIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for _, c := range []struct {
			name    string
			prepare func(*world)
			keys    []string
			plain   bool
		}{
			{name: "log"},
			{name: "a plan", keys: []string{"j", "j", "j"}},
			{name: "an error", keys: []string{"G", "k"}, plain: true},
			{name: "jobs of an entry", keys: []string{"G", "enter"}},
			{name: "empty", prepare: func(w *world) { w.entries = nil }},
			{name: "not read", prepare: func(w *world) {
				w.down = errors.New("read the operator log: permission denied for table operator_log: run GRANT SELECT ON leasetop.operator_log TO app, or ask somebody who may")
			}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				if c.prepare != nil {
					c.prepare(w)
				}
				s := newStage(t, w, size[0], size[1])
				if c.plain {
					s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
				}
				for _, k := range append([]string{"L"}, c.keys...) {
					s.press(k)
					s.screen()
				}
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestLogOpensFromEverywhereAndGoesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
		s.press(tab, "L")
		s.sees("OPERATOR LOG 7")
		s.press("esc")
		s.seesNot("OPERATOR LOG")
	}
	s.press("3", "tab", "enter", "L", "L") // a second time is once
	s.sees("it is open")
	s.press("esc")
	s.sees("JOB 88007")
}

func TestEntriesOpenWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		down int
		keys []string
		sees string
	}{
		{1, []string{"enter"}, "JOB 88007"},
		{3, []string{"enter"}, "PLAN 14"},
		{4, []string{"enter"}, "it is about no single job, and no plan"},
		{6, []string{"enter", "j", "enter"}, "JOB 87002"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("L")
		for range c.down {
			s.press("j")
		}
		for _, k := range c.keys {
			s.later(k)
		}
		s.sees(c.sees)
	}
}

// The log is read by pages as far as somebody scrolls, and what is loaded again: entries
// end, and new ones come.
func TestLogIsReadByPagesAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.entries = nil
	for id := int64(500); id > 1; id-- {
		w.entries = append(w.entries, queue.Act{ID: id, At: noon, By: "ann@shop1", What: "cancel", IDs: []int64{id}, Asked: 1})
	}
	s := newStage(t, w, 120, 36)
	s.press("L")
	s.sees("OPERATOR LOG 100+")
	for range 10 {
		s.press("G")
		s.screen()
	}
	s.sees("OPERATOR LOG 499")
	s.press("g")
	s.sees("ENTRY 500", "not ended")
	ended := noon
	w.entries = append([]queue.Act{{ID: 501, At: noon, By: "bob@ops2", What: "pause", Filter: "emails", Asked: 1}}, w.entries...)
	w.entries[1].Ended, w.entries[1].Done = &ended, 1
	s.now = s.now.Add(actsAgain)
	s.pull()
	s.sees("bob@ops2", "ENTRY 500", "1 of 1 done") // the cursor stays on its entry
}
