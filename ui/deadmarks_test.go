package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestMarksSurviveOtherFilters(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "space", "space") // 88007 of a rate limit, 87994 of a charge
	s.filters("error:charge")
	s.press("enter")
	s.sees("2 marked, 1 not in sight")
	s.press("r")
	s.sees("REDRIVE 2 JOBS", "88007", "87994")
	s.later("y")
	if got, want := s.log(), "redrive [87994 88007] by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.seesNot("marked")
}

func TestRangeIsMarkedWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "j", "v", "j", "j")
	s.sees("a range of 3 rows")
	s.bury(90001)
	s.refresh()
	s.sees("a range of 3 rows") // it holds on to where it began
	s.press("space")
	s.sees("3 marked")
	s.press("r")
	s.sees("REDRIVE 3 JOBS", "87994", "87981", "87968")
	s.later("esc")
	s.press("v", "k", "esc") // dropped: the marks are as before
	s.sees("3 marked")
	s.press("esc")
	s.seesNot("marked")
}

func TestMarksOfJobsAndGroupsAreNotMixed(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "space", "tab", "space")
	s.sees("mark: 1 group marked: esc takes the marks away first")
	s.press("esc", "space", "tab", "space")
	s.sees("mark: 1 job marked in the list: esc takes the marks away first")
	s.press("*", "space")
	s.sees("mark: all that match are marked: esc takes that away first")
}

// TestMoreThanAPage: ten thousand match, and new ones come while the question stands.
func TestAllMatchingIsExactlyWhatWasCounted(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(4_000)
	s := newStage(t, w, 120, 36)
	s.press("3")
	s.filters("error:template")
	s.press("enter", "*")
	s.sees("all 2,000 matching marked: error:template")
	s.press("D")
	s.sees("DISCARD 2,000 JOBS", "2,000  dead letters match", "error:template", "leasetop restore")
	state := *w.state
	died := w.now
	var fresh []queue.Job
	for id := range int64(50) {
		fresh = append(fresh, queue.Job{ID: 3_000_049 - id, Queue: "emails", Kind: "send", Status: queue.Dead, DiedAt: &died, LastError: "no such template"})
	}
	state.Dead.Latest = append(fresh, state.Dead.Latest...)
	state.Dead.Signal++
	w.state = &state
	s.refresh()
	s.sees("DISCARD 2,000 JOBS")
	s.later("m", "a", "i", "l")
	s.discards()
	s.sees("✓ discarded 2,000 · u undoes")
	for _, j := range w.state.Dead.Latest {
		if strings.Contains(j.LastError, "template") != (j.ID >= 3_000_000) {
			t.Fatalf("job %d, dead of %q, is left", j.ID, j.LastError)
		}
	}
	a := s.entered()
	if a.What != "discard" || a.Filter != "error:template" || a.Reason != "mail" || a.Asked != 2_000 || a.Done != 2_000 || len(a.IDs) != 100 {
		t.Errorf("entered in the operator log: %+v", a)
	}
}

func TestMarkedGroupsAreActedOnByTheirIds(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "j", "j", "space", "space", "r")
	s.sees("REDRIVE 10 JOBS", "5  queue:emails kind:send", "5  queue:emails kind:charge")
	s.later("y")
	if n := len(s.plans.list); n != 1 || s.plans.list[0].Total != 10 || s.plans.list[0].Filter != "" || s.plans.list[0].Reason != "2 groups of dead letters" {
		t.Errorf("plans: %+v", s.plans.list)
	}
	s.seesNot("marked")
}

func TestFindingASetCanBeCancelled(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "*")
	_, cmd := s.app.Update(keyPress("r")) // it is not run: the database takes its time
	if cmd == nil {
		t.Fatal("nothing is looked for")
	}
	s.sees("FINDING THE DEAD LETTERS", "status:failed,dead", "0 found")
	s.press("esc")
	s.run(cmd)
	s.sees("cancelled: nothing was done")
	s.seesNot("REDRIVE", "FINDING")
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
}

// A question that nobody asked for at that moment does not listen at once.
func TestKeysTypedWhileASetIsFoundConfirmNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "r", "y", "enter", "y")
	s.sees("REDRIVE 9 JOBS")
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
}

func TestDiscardStopsBetweenBatches(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(3 * discardBatch)
	s := newStage(t, w, 120, 36)
	w.discarding = func() { s.app.dialogs.Top().(*discarding).Keys(s.app)[0].do() }
	s.press("3", "*", "D")
	s.discards()
	s.sees(fmt.Sprintf("discarded %d of 1,500, stopped", discardBatch))
	if n := len(w.state.Dead.Latest); n != 2*discardBatch {
		t.Errorf("%d are left", n)
	}
	if a := s.entered(); a.Done != discardBatch || a.Asked != 3*discardBatch {
		t.Errorf("entered in the operator log: %+v", a)
	}
}

func TestDiscardSaysWhatItSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.skip = map[int64]string{88007: "not a dead letter: pending"}
	s := newStage(t, w, 120, 36)
	s.press("3", "tab", "space", "space", "D")
	s.sees("DISCARD 2 JOBS", "88007", "87994")
	s.discards()
	if got, want := s.log(), "discard [88007 87994] by ann@shop1 because "; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("discarded 1", "skipped 1: 88007 not a dead letter: pending")
}

func TestReadOnlyDatabaseGreysTheActs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Server.ReadOnly = true
	s := newStage(t, w, 120, 36)
	for _, keys := range [][]string{{"3", "r"}, {"R"}, {"D"}, {"tab", "r"}, {"R"}, {"D"}} {
		s.now = s.now.Add(time.Second)
		s.press(keys...)
		s.sees("this database is read-only for app")
	}
	if got := s.log(); got != "" || len(s.app.dialogs.open) > 0 {
		t.Errorf("did %s", got)
	}
}

// Marks in another view, and after everything was read again, name what they named.
func TestGroupMarkKeepsTheFilterItWasMadeUnder(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.filters("id:88007,87968")
	s.press("enter", "space", "esc")
	s.press("esc")
	s.filters("id:88007")
	s.press("enter", "space")
	s.sees("1 group marked, 1 job")
	s.press("/", "esc")
	s.sees("1 group marked, 1 job, 1 not in sight")
	s.press("r")
	s.sees("REDRIVE JOB 88007")
	s.later("y")
	if got := s.plans.jobs[14]; len(got) != 1 || got[0].ID != 88007 {
		t.Errorf("redriven: %v", got)
	}
}

func TestTheSetIsOldestDeathFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "r")
	s.later("y")
	ids := []int64{}
	for _, j := range s.plans.jobs[14] {
		ids = append(ids, j.ID)
	}
	if !slices.IsSorted(ids) || len(ids) != 9 {
		t.Errorf("redriven: %v", ids)
	}
}
