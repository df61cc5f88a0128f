package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

func TestPendingJobSaysWhyItIsNotRunning(t *testing.T) {
	t.Parallel()
	job := func(name string, in time.Duration) *queue.Job {
		j := jobOf(queue.Pending)
		j.Queue, j.RunAt = name, queue.At(noon.Add(in))
		return j
	}
	never := job("emails", 0)
	never.RunAt = queue.Time{Infinity: 1}
	for _, c := range []struct {
		name    string
		job     *queue.Job
		waiting queue.Waiting
		prepare func(*world)
		says    []string
		not     []string
	}{
		{"scheduled", job("emails", time.Hour), queue.Waiting{Due: time.Hour}, nil, []string{"scheduled: due in 1h00m, at 13:04:31Z"}, []string{"no live worker"}},
		{"never", never, queue.Waiting{Never: true}, nil, []string{"it is never due"}, nil},
		{"paused", job("emails", 0), queue.Waiting{Paused: &emailsPaused}, nil, []string{"‖ queue emails is paused, for 5m03s, by ann@shop1: mx1 limits us until noon"}, nil},
		{"behind others", job("emails", 0), queue.Waiting{Ahead: 12_345}, nil, []string{"12,345 jobs are due before it"}, nil},
		{"behind one", job("emails", 0), queue.Waiting{Ahead: 1}, nil, []string{"1 job is due before it"}, nil},
		{"behind many", job("emails", 0), queue.Waiting{Ahead: 10_000, Capped: true}, nil, []string{"10,000+ jobs are due before it"}, nil},
		{"nobody takes it", job("reports", 0), queue.Waiting{}, nil, []string{"no live worker takes reports"}, nil},
		{"somebody else runs its queue", job("reports", 0), queue.Waiting{Running: 3}, nil, []string{"nothing is in its way"}, []string{"no live worker"}},
		{"all slots busy", job("emails", 0), queue.Waiting{}, func(w *world) {
			for i := range w.crew {
				w.crew[i].Slots = len(w.crew[i].Running)
				if len(w.crew[i].Running) == 0 {
					w.crew[i].State = workers.Stopped
				}
			}
		}, []string{"all 3 slots of the workers here that take it are busy: w1, w2"}, nil},
		{"nothing", job("emails", 0), queue.Waiting{}, nil, []string{"nothing is in its way: the next free worker takes it"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.waiting = c.waiting
			if c.prepare != nil {
				c.prepare(w)
			}
			s := atJob(t, w, c.job, 120, 36)
			s.sees(append(c.says, "waits")...)
			s.seesNot(c.not...)
		})
	}
}

// A dashboard without workers does not claim to know them.
func TestWatchingOnlyAsksWhetherAWorkerRuns(t *testing.T) {
	t.Parallel()
	w := newWorld()
	j := jobOf(queue.Pending)
	j.Queue, j.RunAt = "reports", queue.At(noon)
	w.has(j)
	s := newStage(t, w, 120, 36, watchingOnly)
	s.app.openJob(j.ID)
	s.send(wakeMsg{})
	s.sees("nobody runs a job of reports just now")
}

func TestDeadLetterSaysWhatARedriveWouldMeet(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.keyHolder = 90311
	s := atJob(t, w, sampleJob(88007), 120, 36)
	s.sees("would be skipped: its idempotency key is in use by job 90311")
	j := sampleJob(88007)
	j.IdempotencyKey = ""
	s = atJob(t, w, j, 120, 36)
	if text := s.screen().Text(); strings.Contains(text, "in use") {
		t.Error("a job without a key is held up by one")
	}
}
