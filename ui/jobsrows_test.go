package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/term"
)

// TestJobsScreens compares the tab in each of its states with its drawing.
func TestJobsScreens(t *testing.T) {
	t.Parallel()
	denied := errors.New("scan jobs: permission denied for table jobs: run GRANT SELECT ON leasetop.jobs TO app")
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for _, c := range []struct {
			name    string
			prepare func(*world)
			options []stageOption
			keys    []string
			then    func(*stage)
		}{
			{name: "all", keys: []string{"j", "j", "j"}},
			{name: "scheduled in a queue", keys: []string{"]", "s", "s"}},
			{name: "processing", keys: []string{"s", "s", "s"}, prepare: func(w *world) {
				w.state.Leases.List[3].CancelledBy = "ben@shop2"
				w.changes(88140, func(j *queue.Job) { j.CancelledBy = "ben@shop2" })
			}},
			{name: "dead", keys: []string{"S", "ctrl+d"}},
			{name: "none", keys: []string{"]", "]", "]", "s", "s", "s"}},
			{name: "further", keys: []string{"Q", "r", "a", "r", "e", "enter"}, options: []stageOption{rareQueue}},
			{name: "further, some found", keys: []string{"Q", "r", "a", "r", "e", "enter", "space", "space", "space"}, options: []stageOption{rareQueue}},
			{name: "never read", prepare: func(w *world) { w.down = denied }},
			{name: "not read again", keys: []string{"j"}, then: func(s *stage) {
				s.down = denied
				s.enqueues("emails")
				s.settle()
				s.pass(10 * time.Second)
			}},
			{name: "chooser", keys: []string{"Q", "e"}},
			{name: "cancel", keys: []string{"s", "s", "s", "j", "C"}},
			{name: "paused queue", keys: []string{"]"}, prepare: func(w *world) {
				w.state.Pauses.List = []queue.Pause{{Queue: "emails", Since: noon.Add(-time.Hour), By: "ben@shop2"}}
			}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				if c.prepare != nil {
					c.prepare(w)
				}
				s := newStage(t, w, size[0], size[1], c.options...)
				s.press("2")
				s.screen()
				s.press(c.keys...)
				if c.then != nil {
					c.then(s)
				}
				term.Golden(t, s.screen())
			})
		}
	}
}

// What is left of a lease is what the feed knows, which hears of each renewal; of a lease
// that ended since the job was read, nobody knows.
func TestLeasesOfListedJobs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.jobs = append([]queue.Job(nil), w.jobs...)
	s := newStage(t, w, 120, 36)
	s.press("2", "s", "s", "s")
	s.sees("88123  emails/send    ● processing  2/5  00:03 left      w3")
	s.now = s.now.Add(2 * time.Second)
	state := *s.state
	state.Leases.Read, state.Leases.At = s.now, s.now
	state.Leases.List = append(state.Leases.List[:0:0], state.Leases.List...)
	state.Leases.List[1].ExpiresAt = s.now.Add(30 * time.Second)
	s.state = &state
	s.pull()
	s.sees("88123  emails/send    ● processing  2/5  00:30 left      w3", "87002  images/render  ● processing  1/5  late 3s")
	state.Leases.List = nil
	s.pass(40 * time.Second)
	s.sees("88142  emails/send    ● processing  3/5  ended?", "87002  images/render  ● processing  1/5  late 43s")
}

func TestJobsOfNobodyKnown(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.jobs, w.state.Depths.Queues = nil, nil
	s := newStage(t, w, 80, 24)
	s.press("2")
	s.sees("JOBS all 0", "no jobs yet · leasetop enqueue --queue emails")
	s.press("]", "s", "j", "G", "space", "enter")
	s.sees("no job is ready")
}

// A job that has been due for a while is not taken for one that will be.
func TestJobsSayHowLongAgoTheyWereDue(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{120: "○ ready       0/5  due 1m04s ago ", 60: "○ ready      1m04s ago"} {
		s := newStage(t, newWorld(), width, 24)
		s.press("2")
		s.sees(want)
	}
}
