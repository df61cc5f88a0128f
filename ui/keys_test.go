package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// A key that means one thing on one page means nothing else on another: it does that
// everywhere, or says where.
func TestPlansAndPauseHaveOneKeyEach(t *testing.T) {
	t.Parallel()
	for _, page := range [][]string{{"1"}, {"1", "tab"}, {"2"}, {"3"}, {"3", "tab"}, {"3", "tab", "enter"}, {"4"}, {"5"}, {"6"}, {"L"}} {
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
	for _, page := range [][]string{{"1"}, {"2"}, {"3"}, {"3", "tab"}, {"3", "tab", "enter"}, {"4"}, {"5"}, {"6"}, {"L"}, {"l"}} {
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

// The footer of a plan offers what can be done with it now, and nothing else.
func TestFooterOfAPlanOffersWhatCanBeDone(t *testing.T) {
	t.Parallel()
	for state, want := range map[queue.PlanState]struct{ offers, never []string }{
		queue.PlanRunning:   {[]string{"space pause", "C cancel"}, []string{"c go on", "c resume"}},
		queue.PlanPaused:    {[]string{"c resume", "C cancel"}, []string{"space pause"}},
		queue.PlanHeld:      {[]string{"c go on", "C cancel"}, []string{"space pause"}},
		queue.PlanDone:      {nil, []string{"space pause", "c go on", "C cancel"}},
		queue.PlanCancelled: {nil, []string{"space pause", "c go on", "C cancel"}},
	} {
		s := newStage(t, withPlan(newWorld(), func(p *queue.Plan) { p.State = state }), 120, 36)
		s.opens(14)
		s.sees(want.offers...)
		s.seesNot(want.never...)
	}
}

// A dead letter has died of something: that nothing of it was written down says nothing of
// its attempts.
func TestADeadLetterWithoutAHistorySaysSo(t *testing.T) {
	t.Parallel()
	for status, says := range map[queue.Status]string{queue.Failed: "no history was recorded", queue.Dead: "no history was recorded", queue.Pending: "no attempt has ended badly yet"} {
		j := jobOf(status)
		j.Errors = nil
		s := atJob(t, newWorld(), j, 120, 36)
		s.sees(says)
	}
}
