package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// pause pauses queues of the world, as somebody else would.
func (w *world) pause(pauses ...queue.Pause) {
	state := *w.state
	state.Version++
	state.Pauses = watch.Pauses{Source: watch.Polled, Read: w.now, List: pauses}
	w.state = &state
}

var emailsPaused = queue.Pause{Queue: "emails", Since: noon.Add(-303 * time.Second), By: "ann@shop1", Why: "mx1 limits us until noon"}

// claimedBy gives a lease of a queue, claimed so long after noon.
func (w *world) claimedBy(owner, name string, after time.Duration) {
	w.state.Leases.List = append(w.state.Leases.List, watch.Lease{
		JobID: 88160, Queue: name, Kind: "monthly", Attempts: 1, MaxAttempts: 5, Owner: owner,
		LockedAt: noon.Add(after), ExpiresAt: noon.Add(time.Minute),
	})
	w.state.Leases.Total++
}

// TestPausedQueuesAreDrawn: which queues are paused is seen at every size, and
// without colour, and so are the leases that are to end.
func TestPausedQueuesAreDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.state.Leases.List[4].CancelledBy = "bob"
			w.claimedBy("node-worker-17", "reports", -time.Second)
			w.pause(emailsPaused, queue.Pause{Queue: "reports", Since: noon.Add(-time.Minute), By: "bob"})
			s := newStage(t, w, size[0], size[1])
			s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
			s.sees("‖emails ", "‖reports ", "‖ emails paused 5m03s by ann@shop1")
			term.Golden(t, s.screen())
		})
	}
}

func TestPausedQueueNamesWhoStillRuns(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Depths.Queues[0].Processing = 4
	w.pause(queue.Pause{Queue: "emails", Since: noon.Add(-time.Second), By: "ann"})
	s := newStage(t, w, 160, 40)
	s.sees("‖ emails paused 1s by ann · 4 still running: w3, w1, w2", "1 Overview 1 paused")
	// Whoever claims from it later heeds no pauses, and is called out.
	w.claimedBy("node-worker-17", "emails", 5*time.Second)
	s.pull()
	s.sees("! still claiming: node-worker-17")
	w.pause()
	s.pull()
	s.seesNot("paused", "‖")
}

func TestPausedQueueHasNoMissingWorker(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.sees("reports: 50,317 ready, no live worker takes it")
	w.pause(queue.Pause{Queue: "reports", Since: noon, By: "ann"})
	s.pull()
	s.seesNot("no live worker takes it")
}

func TestManyPausesAreCountedAndTheCursorsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var all []queue.Pause
	for _, name := range []string{"emails", "images", "reports"} {
		all = append(all, queue.Pause{Queue: name, Since: noon, By: "ann"})
	}
	w.pause(all...)
	s := newStage(t, w, 120, 36)
	s.sees("‖ emails paused 0s by ann", "‖ and 2 more paused: images, reports", "1 Overview 3 paused")
	s.press("j", "j")
	s.sees("‖ reports paused 0s by ann", "‖ and 2 more paused: emails, images")
}

func TestPauseAndResumeAskAboutTheQueueUnderTheCursor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.press("j", "P")
	s.sees("PAUSE QUEUE images", "12 ready · 0 scheduled · 3 running", "until somebody resumes it")
	s.later("esc")
	if got := s.log(); got != "" {
		t.Fatalf("esc did: %s", got)
	}
	s.press("P")
	// The rows move and somebody else pauses another queue meanwhile: the question stays.
	state := *w.state
	state.Depths.Queues = append([]watch.QueueDepth{{QueueDepth: queue.QueueDepth{Queue: "aaa", Ready: 1}}}, state.Depths.Queues...)
	w.state = &state
	s.refreshDuring(time.Second)
	s.later("y")
	if got, want := s.log(), "pause [images] by ann@shop1"; got != want {
		t.Fatalf("did %q, want %q", got, want)
	}
	s.sees("✓ paused images: what runs goes on")

	w.pause(queue.Pause{Queue: "images", Since: w.now, By: "ann@shop1", Why: "the disk is full"})
	s.pull()
	s.sees("P resume")
	s.press("P")
	s.sees("RESUME QUEUE images", "‖ paused 0s by ann@shop1", "the disk is full")
	s.later("y")
	if got, want := s.log(), "pause [images] by ann@shop1; resume [images]"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("✓ resumed images: workers claim from it again")
}

func TestPauseThatWasThereAlreadySaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.press("P")
	w.pause(emailsPaused)
	s.later("y")
	s.sees("! emails had been paused already: that pause stands")
	s.pull()
	s.press("P")
	w.pause()
	s.later("y")
	s.sees("! emails had been resumed already")
}

func TestPausesThatAreNotKnownAreSaidAndNotChanged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Pauses = watch.Pauses{Source: watch.Polled, Read: noon, Reason: "permission denied for table queues: run GRANT SELECT ON leasetop.queues TO app"}
	s := newStage(t, w, 200, 40)
	s.sees("! which queues are paused is not known: permission denied for table queues: run GRANT SELECT")
	s.press("P")
	s.sees("pause: which queues are paused is not known")
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
}

func TestPauseThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	w.down = errors.New("pause: connection refused")
	s.press("P")
	s.later("y")
	s.sees("✗ pause: connection refused")
}

func TestWorkersTabMarksPausedQueues(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.pause(emailsPaused)
	s := newStage(t, w, 120, 36)
	s.press("4")
	s.sees("‖emails,images", "1 Overview 1 paused")
}
