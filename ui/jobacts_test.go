package ui

import (
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// jobOf is a job of a status.
func jobOf(status queue.Status) *queue.Job {
	j := sampleJob(90001)
	j.Status, j.DiedAt = status, nil
	switch status {
	case queue.Dead, queue.Failed:
		j.DiedAt = &j.UpdatedAt
	case queue.Processing:
		j.LockedBy = owner("w1", 3)
		until := noon.Add(24 * time.Second)
		j.LeaseExpiresAt = &until
	case queue.Pending:
		j.RunAt = queue.At(noon.Add(time.Hour))
	}
	return j
}

func TestActsOnOneJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    queue.Status
		key       string
		asks      []string
		did, says string
		what      string
	}{
		{queue.Dead, "D", []string{"DISCARD JOB 90001", "leasetop restore, brings it back"}, "discard [90001] by ann@shop1 because ", "✓ discarded 90001", "discard"},
		{queue.Pending, "n", []string{"RUN JOB 90001 NOW", "instead of in 1h00m"}, "run now [90001] by ann@shop1", "✓ job 90001 is due now", "run now"},
		{queue.Processing, "T", []string{"TAKE BACK JOB 90001", "w1 is alive here", "ends in 00:24", "may happen twice"}, "take back 90001 from " + owner("w1", 3) + " by ann@shop1", "✓ took 90001 back", "release"},
	} {
		s := atJob(t, newWorld(), jobOf(c.status), 120, 36)
		s.press(c.key)
		s.sees(c.asks...)
		s.press("y") // too soon: it may have been meant for what is below
		if got := s.log(); got != "" {
			t.Fatalf("%s did %s at once", c.key, got)
		}
		if c.key == "D" {
			s.later("enter")
		}
		s.later("y")
		if got := s.log(); got != c.did {
			t.Errorf("%s did %q, want %q", c.key, got, c.did)
		}
		s.sees(c.says)
		if a := s.entered(); a.What != c.what || a.Done != 1 || a.By != "ann@shop1" || a.IDs[0] != 90001 {
			t.Errorf("%s entered %+v", c.key, a)
		}
	}
}

func TestActsThatMakeNoSenseSayWhy(t *testing.T) {
	t.Parallel()
	due := jobOf(queue.Pending)
	due.RunAt = queue.At(noon.Add(-time.Minute))
	for _, c := range []struct {
		job       *queue.Job
		key, says string
	}{
		{jobOf(queue.Completed), "D", "discard: not a dead letter: completed"},
		{jobOf(queue.Completed), "e", "edit: it is done: completed"},
		{jobOf(queue.Completed), "n", "run now: not waiting for its time: completed"},
		{due, "n", "run now: it is due already"},
		{due, "T", "take back: nobody runs it: pending"},
		{jobOf(queue.Dead), "T", "take back: nobody runs it: dead"},
		{jobOf(queue.Processing), "e", "edit: a worker has its payload"},
		{jobOf(queue.Processing), "r", "redrive: not a dead letter: processing"},
	} {
		s := atJob(t, newWorld(), c.job, 120, 36)
		s.press(c.key)
		s.sees(c.says)
		if got := s.log(); got != "" {
			t.Errorf("%s did %s", c.key, got)
		}
	}
	readOnly := newWorld()
	readOnly.state.Server.ReadOnly = true
	s := atJob(t, readOnly, jobOf(queue.Dead), 120, 36)
	for _, key := range []string{"D", "e"} {
		s.press(key)
		s.sees("this database is read-only for app")
	}
}

// What was done meanwhile is told, and nothing is done to another claim.
func TestActsThatComeTooLateAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    queue.Status
		key, says string
	}{
		{queue.Dead, "D", "! discarded 0, skipped 1: 90001 not a dead letter: pending"},
		{queue.Processing, "T", "! job 90001: is under another lease by now, or has ended"},
	} {
		w := newWorld()
		s := atJob(t, w, jobOf(c.status), 120, 36)
		s.press(c.key)
		w.skip = map[int64]string{90001: "not a dead letter: pending"}
		if c.key == "D" {
			s.later("enter")
		}
		s.later("y")
		s.sees(c.says)
	}
	w := newWorld()
	s := atJob(t, w, jobOf(queue.Pending), 120, 36)
	s.press("n")
	w.down = errors.New("connection refused")
	s.later("y")
	s.sees("✗ connection refused")
}

func TestTheSameActsOnTheJobsTab(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.jobs = []queue.Job{*jobOf(queue.Dead)}
	s := newStage(t, w, 120, 36)
	s.press("2", "D")
	s.sees("DISCARD JOB 90001")
	s.discards()
	if got, want := s.log(), "discard [90001] by ann@shop1 because "; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
}

func TestTakingBackSaysWhatTheLeaseKnows(t *testing.T) {
	t.Parallel()
	for owned, says := range map[string]string{
		owner("w5", 3):               "w5 is crashed.",
		"elsewhere:99:ab12cd34/w9#4": "w9@elsewhere is no worker of this process",
		"node-worker-17":             "node-worker-17 is no worker of this process",
	} {
		j := jobOf(queue.Processing)
		j.LockedBy = owned
		over := noon.Add(-time.Minute)
		j.LeaseExpiresAt = &over
		s := atJob(t, newWorld(), j, 120, 36)
		s.press("T")
		s.sees(says, "Its lease has run out")
	}
}
