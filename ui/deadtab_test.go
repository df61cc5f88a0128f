package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/term"
)

// type types a text, and lets the pause pass after which it is applied.
func (s *stage) filters(text string) {
	s.t.Helper()
	s.press("/")
	for _, r := range text {
		s.press(pick(r == ' ', "space", string(r)))
	}
	s.pass(typingPause)
}

// heap buries many jobs at once, one a second: those of even ids of one cause, the others of another.
func (w *world) heap(n int) {
	state := *w.state
	state.Dead.Latest = heaped()[:n:n]
	w.jobs = state.Dead.Latest
	if n < jobsLookTo { // else there are no acts on them, and to copy them takes long
		state.Dead.Latest, w.jobs = slices.Clone(w.jobs), slices.Clone(w.jobs)
	}
	state.Dead.Total, state.Dead.Capped = min(int64(n), 10_000), n > 10_000
	state.Dead.Signal++
	state.Version++
	w.state = &state
}

// heaped are the most that a test needs, newest first. Nobody may change them.
var heaped = sync.OnceValue(func() []queue.Job {
	jobs := make([]queue.Job, jobsLookTo+25_000)
	for i := range jobs {
		died := noon.Add(-time.Duration(i) * time.Second)
		jobs[i] = queue.Job{
			ID: int64(1_000_000 - i), Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 5, MaxAttempts: 5, DiedAt: &died,
			LastError: pick(i%2 == 0, "SMTP 421 rate limited by mx1.example.com", "no such template"),
		}
	}
	return jobs
})

func TestDeadLettersAreDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for name, do := range map[string]func(s *stage){
			"groups":            func(s *stage) { s.press("j") },
			"groups filtered":   func(s *stage) { s.filters("!error:421"); s.press("enter") },
			"group opened":      func(s *stage) { s.press("j", "j", "enter") },
			"mistake":           func(s *stage) { s.filters("queue:emails knid:send") },
			"mistake far right": func(s *stage) { s.filters("queue:emails error:refused payload.order.total:>100 attempts:>many") },
			"completion":        func(s *stage) { s.filters("queue:emails ki"); s.press("tab"); s.sees("kind:"); s.press("tab") },
			"nothing matches":   func(s *stage) { s.filters("queue:nowhere"); s.press("enter") },
			"groups marked":     func(s *stage) { s.press("space", "j", "space") },
			"range":             func(s *stage) { s.press("tab", "j", "v", "j", "j") },
			"marked and out of sight": func(s *stage) {
				s.press("tab", "space", "space", "space")
				s.filters("error:charge")
				s.press("enter")
			},
			"all marked": func(s *stage) { s.filters("error:charge"); s.press("enter", "tab", "*") },
			"redrive of groups": func(s *stage) {
				s.filters("queue:emails")
				s.press("enter", "space", "space")
				s.later("r")
			},
			"discard": func(s *stage) { s.press("tab", "space", "space", "D"); s.later("4", "2", "1") },
			"still looked": func(s *stage) {
				s.heap(jobsLookTo + 25_000)
				s.pull()
				s.press("tab")
				s.filters("queue:nowhere")
				s.press("enter")
			},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, newWorld(), size[0], size[1])
				s.press("3")
				do(s)
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestDeadLettersWithoutColourSayTheSame(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 80, 24)
	s.app.plain = true
	s.app.dress()
	s.press("3")
	s.filters("queue:emails knid:send")
	s.sees("^^^^ no key is called")
	s.press("esc", "space")
	s.sees("◆ ", "1 group marked")
}

func TestFilterHoldsForGroupsAndList(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.filters("error:charge")
	s.press("enter")
	s.sees("16 in 3 groups", "/ error:charge")
	s.press("tab")
	s.sees("16 matching", "/ error:charge", "newest first")
	s.press("tab")
	s.sees("16 in 3 groups")
	s.press("esc")
	s.sees("40 in 9 groups")
	s.seesNot("/ error:charge")
}

func TestOpenedGroupIsItsFilterAndEscGoesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.filters("queue:emails")
	s.press("enter", "j", "enter")
	s.sees("9 matching", `/ queue:emails kind:send fingerprint:"charge declined: insufficient_funds (request req_8s7df6g)"`)
	job, _ := s.app.deadTab.Job()
	if job.LastError != "charge declined: insufficient_funds (request req_8s7df6g)" {
		t.Errorf("the list of the group has a job that died of %q", job.LastError)
	}
	s.press("esc")
	s.sees("▸      9", "/ queue:emails")
	if key, _ := s.app.deadTab.groups.list.Key(); key.fingerprint != job.LastError {
		t.Errorf("back in the groups, the cursor is on %q", key.fingerprint)
	}
}

func TestFilterIsAppliedWhenNothingIsTypedForAWhile(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	before := s.groupings
	s.press("/", "c", "h", "a", "r", "g", "e")
	s.sees("40 in 9 groups")
	s.pass(typingPause)
	s.sees("22 in 5 groups")
	if n := s.groupings - before; n != 1 {
		t.Errorf("the groups were asked for %d times", n)
	}
}

func TestMistakeInAFilterChangesNothingAndCannotBeKept(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.filters("charge")
	s.filters(" attempts:many")
	s.sees("22 in 5 groups", "^^^^", "still shown: charge")
	s.press("enter")
	s.sees("keep: ")
	if s.app.deadTab.line.typing == nil {
		t.Error("the mistake was kept")
	}
	s.press("esc")
	s.sees("40 in 9 groups")
}

// What could still become right is no mistake while it is typed.
func TestUnfinishedFilterIsNotCalledAMistake(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.filters("queue:")
	s.seesNot("^")
	s.sees("tab  emails")
}

func TestStrangeFilterTextIsLiteral(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[", "(a+)+$", "%", "'", `\`, "💥", "\u202e", strings.Repeat("x", 990)} {
		s := newStage(t, newWorld(), 80, 24)
		s.app.clustered = true
		s.press("3", "/")
		s.send(tea.PasteMsg{Content: text})
		s.pass(typingPause)
		harmless(t, s)
		s.press("enter")
		harmless(t, s)
		if got := s.app.deadTab.line.applied.String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
		s.sees("no dead letter matches the filter")
	}
	s := newStage(t, newWorld(), 80, 24)
	s.press("3", "/")
	s.send(tea.PasteMsg{Content: strings.Repeat("x", 10_000)})
	s.sees("there is no room for that")
}

// What is asked for a filter is given up when another one is typed; one question at a time
// is out.
func TestOtherFilterCancelsWhatIsRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab")
	d := &s.app.deadTab.list
	s.bury(90001)
	s.now = s.now.Add(deadBetween)
	d.heed()
	s.app.deadTab.Show(&picture{theme: s.app.pic.theme, state: s.state, now: s.now})
	cmd := d.Load(s.app, &s.app.deadTab.line)
	if cmd == nil {
		t.Fatal("nothing was asked after the dead channel spoke")
	}
	s.app.deadTab.line.Set("charge")
	if again := d.Load(s.app, &s.app.deadTab.line); again != nil {
		t.Fatal("two questions are out at once")
	}
	m := cmd().(deadMsg)
	if m.err != context.Canceled {
		t.Fatalf("the reading ended with %v", m.err)
	}
	s.app.deadTab.Took(m)
	if d.err != nil || d.read {
		t.Errorf("the answer for the filter before was taken: %v", d.err)
	}
	s.pull()
	s.sees("22 matching")
}

func TestCursorFollowsTheGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "j", "j")
	before, _ := s.app.deadTab.groups.list.Key()
	for id := int64(90001); id < 90021; id++ {
		s.bury(id) // these become the largest group
	}
	s.pass(groupsBetween)
	s.pull()
	s.sees("60 in 10 groups")
	if after, _ := s.app.deadTab.groups.list.Key(); after != before {
		t.Errorf("the cursor went from %v to %v", before, after)
	}
	if s.app.deadTab.groups.list.at != 3 {
		t.Errorf("the group is in row %d", s.app.deadTab.groups.list.at)
	}
}

func TestGroupsAreReadAgainGently(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	s.app.deadTab.groups.took = 500 * time.Millisecond
	before := s.groupings
	for i := range 40 { // the dead channel speaks ten times a second, for four seconds
		s.bury(int64(90_000 + i))
		s.now = s.now.Add(100 * time.Millisecond)
		s.pull()
	}
	if n := s.groupings - before; n != 0 {
		t.Errorf("groups that take half a second were read again %d times in four seconds", n)
	}
	s.pass(time.Second)
	if n := s.groupings - before; n != 1 {
		t.Errorf("after five seconds they were read %d times", n)
	}
	s.sees("80 in 10 groups")
}

// The newest are grouped first, so that something is to be seen at once, and then all.
func TestGroupsOfTheNewestComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(groupsFirst + 100)
	s := newStage(t, w, 120, 36)
	_, cmd := s.app.Update(keyPress("3"))
	s.screen()
	for msg := range s.answers(cmd) {
		_, cmd = s.app.Update(msg)
	}
	s.sees("20,000+ in 2 groups", "of the newest 20,000 dead letters so far, counting all…")
	s.run(cmd)
	s.sees("20,100 in 2 groups")
	s.seesNot("so far")
}

// answers are what the commands in one come back with.
func (s *stage) answers(cmd tea.Cmd) func(yield func(tea.Msg) bool) {
	return func(yield func(tea.Msg) bool) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, one := range msg {
				for answer := range s.answers(one) {
					yield(answer)
				}
			}
		case groupsMsg:
			yield(msg)
		}
	}
}

func TestGroupsThatAreNotAllSaySo(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3")
	found := s.app.deadTab.groups.found
	found.Whole, found.Looked, found.Total = false, 2_000_000, 2_000_000
	s.send(groupsMsg{choice: s.app.deadTab.groups.choice, at: s.now, found: found})
	s.sees("2,000,000+ in 9 groups", "of the newest 2,000,000 dead letters")
}

// Many groups cost no more to draw than those in sight.
func BenchmarkFrameOfManyGroups(b *testing.B) {
	w := newWorld()
	s := newStage(b, w, 120, 36)
	s.press("3")
	found := queue.DeadGroups{Whole: true, Begins: sampleAxis(noon)}
	for i := range 40_000 {
		found.Groups = append(found.Groups, queue.DeadGroup{Queue: fmt.Sprint("q", i), Fingerprint: "no such thing", Count: int64(50_000 - i), First: noon, Last: noon, Bars: make([]int64, 24)})
	}
	s.send(groupsMsg{choice: s.app.deadTab.groups.choice, at: noon, found: found})
	s.press("G")
	for b.Loop() {
		s.now = s.now.Add(time.Second)
		s.app.tick()
		s.app.View()
	}
}

func TestListLooksOnlyAsFarAsItIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(jobsLookTo + 25_000)
	s := newStage(t, w, 120, 36)
	s.press("3", "tab")
	s.filters("queue:nowhere")
	s.press("enter")
	s.sees("looked at 2", "dead letters back to", "none yet", "f or enter looks further")
	// What is new is looked at, and nothing of that again.
	s.app.deadTab.list.took = 0
	w.deadLooks = nil
	s.bury(2_000_000)
	s.refresh()
	if n := len(w.deadLooks); n != 1 {
		t.Errorf("%d questions for one new dead letter", n)
	}
	s.sees("looked at 2")
	s.press("f")
	s.sees("no dead letter matches the filter")
}

func TestNewDeadLettersComeOnTopWhileOneReadsFurtherDown(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.heap(3000)
	s := newStage(t, w, 120, 36)
	s.press("3", "tab")
	for range 20 {
		s.press("ctrl+d")
		s.screen()
	}
	before, _ := s.app.deadTab.Job()
	for id := int64(2_000_000); id < 2_000_450; id++ { // more than a page
		s.bury(id)
	}
	s.refresh()
	after, _ := s.app.deadTab.Job()
	if before.ID != after.ID {
		t.Fatalf("the cursor went from %d to %d", before.ID, after.ID)
	}
	s.press("g")
	s.refresh()
	s.press("g")
	rows := s.app.deadTab.list.rows
	for i := range rows {
		if rows[i].ID != w.state.Dead.Latest[i].ID {
			t.Fatalf("row %d is %d, want %d", i, rows[i].ID, w.state.Dead.Latest[i].ID)
		}
	}
	if len(rows) < 450 {
		t.Errorf("%d rows", len(rows))
	}
}

// A job that is no dead letter any more leaves the list, wherever it is in sight, and its mark goes.
func TestRedrivenElsewhereLeavesTheList(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "space", "j", "space")
	s.sees("2 marked")
	s.vanish(88007)
	s.refresh()
	s.pull()
	s.seesNot("88007")
	if keys := s.app.deadTab.list.list.keys; slices.Contains(keys, 88007) {
		t.Error("it is still listed")
	}
}

// Until somebody moves the cursor it is on the first row, whatever comes in whichever
// order; from then on it stays on what it was put on.
func TestCursorRestsOnTheFirstRowUntilItIsMoved(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"groups": {"3"}, "list": {"3", "tab"}} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(keys...)
		d := s.app.deadTab
		first := func() bool { return d.groups.list.at == 0 }
		turn := func() {
			found := d.groups.found
			found.Groups = slices.Clone(found.Groups)
			slices.Reverse(found.Groups)
			s.send(groupsMsg{choice: d.groups.choice, at: s.now, found: found})
		}
		chosen := func() any { key, _ := d.groups.list.Key(); return key }
		if name == "list" {
			first = func() bool { return d.list.list.at == 0 }
			id := int64(2_000_000)
			turn = func() { s.bury(id); id++; s.refresh() }
			chosen = func() any { key, _ := d.list.list.Key(); return key }
		}
		before := chosen()
		turn()
		if !first() || chosen() == before {
			t.Errorf("%s: the cursor went along with %v", name, before)
		}
		for _, hold := range [][]string{{"j", "k"}, {"v", "esc"}, {"enter", "esc"}, {"r", "esc"}} {
			s.later("g")
			d.groups.list.moved, d.list.list.moved = false, false
			for _, k := range hold {
				s.later(k)
			}
			before = chosen()
			turn()
			if chosen() != before {
				t.Errorf("%s: after %v the cursor left %v", name, hold, before)
			}
		}
	}
}
