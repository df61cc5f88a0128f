package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/term"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// faultsOf is what can be broken of the world: what is done to the network, to its
// workers, and to its queue. It has no server of its own.
type faultsOf struct{ *world }

func (w faultsOf) Choices(_ context.Context, worker string) []faults.Choice {
	w.touch("choices")
	var all []faults.Choice
	for _, f := range faults.All() {
		c := faults.Choice{Fault: f}
		switch {
		case f.Name == "restart":
			c.Why = "only the private server of make run is restarted"
		case f.Name == "kill-9":
			c.Why = worker + " is no process of its own: n spawns one; then put the cursor on it"
		}
		all = append(all, c)
	}
	return all
}

func (w faultsOf) Start(_ context.Context, name, worker string) (string, error) {
	w.note("break %s %s", name, worker)
	if w.down != nil {
		return "", w.down
	}
	w.broke = append(w.broke, faults.Broken{Name: name, Title: name, Since: w.now})
	return "it is broken", nil
}

func (w faultsOf) Broken() []faults.Broken {
	w.touch("broken")
	return slices.Clone(w.broke)
}

func (w faultsOf) Heal(context.Context) ([]string, error) {
	w.note("heal")
	if w.down != nil {
		return nil, w.down
	}
	healed := make([]string, len(w.broke))
	for i, one := range w.broke {
		healed[i] = one.Title
	}
	w.broke = nil
	return healed, nil
}

// joined adds a worker in a process of its own.
func joined(w *world) {
	w.crew = append(w.crew, workers.Snapshot{
		Name: "p1", Pid: 16103, State: workers.Busy, Since: noon.Add(-2 * time.Second), Queues: []string{"emails", "images"}, Slots: 2,
		Owner: "shop1:16103:77aa00bb/p1", Completed: 512, Processed: 512,
		Running: []workers.Running{{JobID: 88160, Queue: "emails", Kind: "send", Attempt: 1, Since: noon.Add(-2 * time.Second), Trust: noon.Add(4 * time.Second)}},
	})
}

func onProcess(t *testing.T, width, height int) *stage {
	w := newWorld()
	joined(w)
	s := newStage(t, w, width, height)
	s.press("4", "G")
	return s
}

func partition() []faults.Broken {
	return []faults.Broken{{Name: "partition", Title: "network partition", Since: noon.Add(-12 * time.Second)}}
}

func TestFaultsAreDrawn(t *testing.T) {
	t.Parallel()
	several := append(partition(),
		faults.Broken{Name: "failing-dependency", Title: "failing dependency", Since: noon.Add(-95 * time.Second), Text: "31 of 40 calls failed"},
		faults.Broken{Name: "index", Title: "missing ready index", Since: noon.Add(-4 * time.Minute), Text: "building it again: 41 % read", Healing: true})
	for name, show := range map[string]func(s *stage){
		"catalogue": func(s *stage) { s.press("g", "B"); s.later("j", "j", "j") },
		"refused":   func(s *stage) { s.press("g", "B"); s.later("j", "j") },
		"question":  func(s *stage) { s.press("B"); s.later("j", "j", "j", "enter"); s.pass(time.Second) },
		"partition": func(s *stage) { s.send(brokenMsg{list: partition()}) },
		"several":   func(s *stage) { s.press("1"); s.send(brokenMsg{list: several}) },
		"process":   func(*stage) {},
		"kill":      func(s *stage) { s.press("K"); s.pass(time.Second) },
		"freeze":    func(s *stage) { s.press("F"); s.pass(time.Second) },
		"spawn":     func(s *stage) { s.press("n"); s.later("tab") },
	} {
		for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := onProcess(t, size[0], size[1])
				show(s)
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestFaultIsDoneOnlyWhenItWasConfirmed(t *testing.T) {
	t.Parallel()
	s := onProcess(t, 120, 36)
	s.press("B")
	s.later("enter")
	s.sees("BREAK: CRASH OF A WORKER", "crash of a worker · p1")
	s.later("enter", "esc", "esc")
	if got := s.log(); got != "" {
		t.Fatalf("nothing was confirmed: %s", got)
	}
	s.press("B")
	s.later("j", "j", "j", "enter")
	s.later("y")
	if got := s.log(); got != "break partition " {
		t.Errorf("it did: %s", got)
	}
	s.sees("✓ it is broken", "✗  broken on purpose  partition", "H heals")
	s.seesNot("BREAK")
}

func TestFaultOfAWorkerIsDoneToTheOneThatWasUnderTheCursor(t *testing.T) {
	t.Parallel()
	s := onProcess(t, 120, 36)
	s.press("g", "j", "B")
	s.later("enter")
	s.crew = s.crew[1:]
	s.pull()
	s.later("y")
	if got := s.log(); got != "break crash w2" {
		t.Errorf("it did: %s", got)
	}
}

func TestFaultThatCannotBeDoneSaysWhy(t *testing.T) {
	t.Parallel()
	s := onProcess(t, 120, 36)
	s.press("g", "B")
	s.later("j", "j", "enter")
	s.sees("! break: w1 is no process of its own", "BREAK SOMETHING")
	s.down = errors.New("the server is gone")
	s.later("k", "enter")
	s.later("y")
	s.sees("✗ the server is gone")
}

func TestWhatIsBrokenStandsOnEveryPageUntilItIsHealed(t *testing.T) {
	t.Parallel()
	s := onProcess(t, 120, 36)
	s.press("H")
	s.sees("H: nothing is broken on purpose")
	s.broke = partition()
	s.send(brokenMsg{list: s.broke})
	for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
		s.press(tab)
		s.sees("✗  broken on purpose  network partition 12s", "H heals")
	}
	s.press("p") // the picture stands still, this does not
	s.pass(8 * time.Second)
	s.sees("network partition 20s")
	s.down = errors.New("it takes longer")
	s.press("H")
	s.sees("✗ it takes longer", "network partition")
	s.down = nil
	s.press("H")
	s.sees("✓ healed: network partition")
	s.seesNot("broken on purpose")
	if got := s.log(); got != "heal; heal" {
		t.Errorf("it did: %s", got)
	}
}

func TestTextThatIsPastedBreaksAndHealsNothing(t *testing.T) {
	t.Parallel()
	s := onProcess(t, 120, 36)
	s.broke = partition()
	s.send(brokenMsg{list: s.broke})
	s.press(strings.Split("HBjjjy", "")...)
	if got := s.log(); got != "" {
		t.Errorf("it did: %s", got)
	}
}

func TestWorkerInAProcessOfItsOwnIsSpawnedAndSignalled(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("4", "n")
	s.later("p")
	s.press("tab")
	s.press("y")
	s.sees("✓ spawned p2 on emails, images (4 slots, process 4243)")
	joined(s.world)
	s.pull()
	s.press("G", "K")
	s.sees("KILL -9 WORKER p1")
	s.later("y")
	s.press("F")
	s.pass(time.Second)
	s.sees("SIGSTOP to process 16103")
	s.later("y")
	s.press("d")
	s.sees("✓ draining p1: SIGTERM to process 16103")
	s.press("+")
	s.press("-")
	if got, want := s.log(), "spawn process emails,images 4; kill p1; freeze p1; drain p1; spawn process emails,images 2; drain p1"; got != want {
		t.Errorf("it did %q, not %q", got, want)
	}
}

// Whoever looks on at somebody's database breaks nothing of it by accident.
func TestNothingIsBrokenWhereNothingCanBe(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36, watchingOnly)
	s.press("4", "B")
	s.sees("break: nothing can be broken here")
	if _, cmd := s.app.Update(brokenMsg{}); cmd != nil {
		if _, ok := cmd().(tea.QuitMsg); ok {
			t.Error("it quits")
		}
	}
}

func TestReadOnlyDatabaseIsNotBroken(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Server.ReadOnly = true
	s := newStage(t, w, 120, 36)
	s.press("4", "B")
	s.sees("break: this database is read-only for app")
	s.seesNot("BREAK SOMETHING")
}

// Their connections lead through the same cable, whichever process they are in.
func TestPartitionCutsTheLanesOfAllWorkersOfTheDashboard(t *testing.T) {
	t.Parallel()
	var f laneFeed
	for _, pid := range []int{0, 16103} {
		w := workers.Snapshot{Name: "w", Pid: pid, State: workers.Busy, Since: noon.Add(-time.Hour)}
		f.Broken(partition(), noon)
		if state, since := f.state(w); state != cutOff || !since.Equal(noon.Add(-12*time.Second)) {
			t.Errorf("process %d: %s since %v", pid, state, since)
		}
		f.Broken(nil, noon.Add(time.Minute))
		if state, since := f.state(w); state != workers.Busy || !since.Equal(noon.Add(time.Minute)) {
			t.Errorf("process %d, healed: %s since %v", pid, state, since)
		}
	}
}
