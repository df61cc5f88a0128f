package ui

import (
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// shows hands the open detail a job, as the database would.
func (s *stage) shows(change func(*queue.Job)) {
	s.t.Helper()
	job := sampleJob(s.detail().id)
	change(job)
	s.send(jobMsg{id: job.ID, job: job, length: len(job.Payload)})
}

func running(j *queue.Job) {
	ends := noon.Add(20 * time.Second)
	j.Status, j.DiedAt, j.LockedBy, j.LeaseExpiresAt = queue.Processing, nil, owner("w3", 26), &ends
}

func waiting(j *queue.Job) { j.Status, j.DiedAt = queue.Pending, nil }

func TestCancelOfALeaseNamesTheJobAndActsOnIt(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.press("tab", "j", "C")
	s.sees("CANCEL JOB 88123", "emails/send", "attempt 2/5", "run by w3", "asked to stop")
	// The leases change places, and one comes on top: the question stays.
	state := *w.state
	state.Leases.List = append([]watch.Lease{{JobID: 1, Queue: "emails", Owner: owner("w1", 1), ExpiresAt: noon}}, state.Leases.List...)
	w.state = &state
	s.refreshDuring(time.Second)
	s.later("y")
	if got, want := s.log(), "cancel [88123] by ann@shop1"; got != want {
		t.Fatalf("did %q, want %q", got, want)
	}
	s.sees("✓ asked job 88123's worker to stop")
	s.pull()
	s.sees("cancelling")
	s.press("C")
	s.sees("cancel: its worker has been asked to stop already, by ann@shop1")
}

func TestWorkerShowsWhichOfItsJobsAreToEnd(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Leases.List[3].CancelledBy = "bob"
	s := newStage(t, w, 120, 36)
	s.press("4")
	s.sees("w1 RUNS", "cancelling")
}

func TestCancelOfAForeignWorkersJobSaysThatItWillNotHear(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("tab", "G", "C")
	s.sees("CANCEL JOB 88150", "run by node-worker-17", "does not hear of this")
}

func TestCancelFromTheDetail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		job   func(*queue.Job)
		sees  []string
		done  queue.Cancelled
		flash string
	}{
		{"running", running, []string{"run by w3", "asked to stop"}, queue.Cancelled{Asked: []int64{88123}}, "✓ asked job 88123's worker to stop"},
		{"waiting", waiting, []string{"dead letter at once"}, queue.Cancelled{IDs: []int64{88123}}, "✓ job 88123 is dead: cancelled"},
		{"just completed", running, nil, queue.Cancelled{Skipped: []queue.Skip{{ID: 88123, Reason: "already completed"}}}, "! job 88123 had completed already"},
		{"just died", running, nil, queue.Cancelled{Skipped: []queue.Skip{{ID: 88123, Reason: "already dead"}}}, "! job 88123 was dead already"},
		{"gone", waiting, nil, queue.Cancelled{Skipped: []queue.Skip{{ID: 88123, Reason: "no such job"}}}, "! job 88123 was not cancelled: no such job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, newWorld(), 120, 36)
			s.press("tab", "j", "enter")
			s.shows(c.job)
			s.press("C")
			s.sees(append(c.sees, "CANCEL JOB 88123")...)
			s.later("y")
			if got, want := s.log(), "cancel [88123] by ann@shop1"; got != want {
				t.Errorf("did %q, want %q", got, want)
			}
			s.send(cancelledMsg{id: 88123, done: c.done})
			s.sees(c.flash)
		})
	}
}

func TestCancelThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	w.down = errors.New("cancel: connection refused")
	s.press("tab", "C")
	s.later("y")
	s.send(cancelledMsg{id: 87002, err: w.down})
	s.sees("✗ cancel: connection refused")
}

func TestCancelSaysWhereItMakesNoSense(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "enter")
	s.seesNot("C cancel")
	s.press("C")
	s.sees("cancel: nothing to stop: dead")
	s.shows(func(j *queue.Job) { running(j); j.CancelledBy = "bob" })
	s.sees("C cancel")
	s.press("C")
	s.sees("cancel: its worker has been asked to stop already, by bob")
	s.send(jobMsg{id: s.detail().id, err: queue.ErrNotFound})
	s.press("C")
	s.sees("cancel: the job is gone")

	w := newWorld()
	w.state.Server.ReadOnly = true
	s = newStage(t, w, 120, 36)
	s.press("tab", "C")
	s.sees("cancel: this database is read-only for app")
	w = newWorld()
	w.state.Leases.List, w.state.Leases.Total = nil, 0
	s = newStage(t, w, 120, 36)
	s.press("tab", "C")
	s.sees("cancel: no job under the cursor")
	if got := s.log() + w.log(); got != "" {
		t.Errorf("did %s", got)
	}
}

func TestDetailSaysWhatCameOfACancel(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "enter")
	for _, c := range []struct {
		job  func(*queue.Job)
		says string
	}{
		{running, "asked by bob: not ended yet"},
		{func(*queue.Job) {}, "cancelled  by bob"},
		{func(j *queue.Job) { j.Status, j.DiedAt = queue.Completed, nil }, "asked by bob: completed all the same"},
	} {
		s.shows(func(j *queue.Job) { c.job(j); j.CancelledBy = "bob" })
		s.sees(c.says)
	}
}

func TestDetailIsReadAgainAfterACancel(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("tab", "enter")
	s.shows(running)
	before := s.detail().asked
	s.now = s.now.Add(time.Millisecond)
	s.send(cancelledMsg{id: s.detail().id, done: queue.Cancelled{Asked: []int64{s.detail().id}}})
	if !s.detail().asked.After(before) {
		t.Error("the detail shows the job as it was before")
	}
}
