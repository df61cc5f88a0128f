package plain

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// A reclaim that both the reaper of this process and the feed tell is one line, a
// second reclaim of the same job is another, and so is one by somebody else's reaper.
func TestReclaimIsToldOnce(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	feed := func(seq uint64, s int, what watch.What, job int64, note string) watch.Event {
		return watch.Event{Seq: seq, At: at(s), Source: watch.FromWAL, JobID: job, What: what, Note: note}
	}
	s := watch.State{Events: []watch.Event{
		feed(1, 0, watch.Reclaimed, 8, "attempt 1 of 3"),
		feed(2, 2, watch.Reclaimed, 8, "attempt 2 of 3"),
		feed(3, 4, watch.Buried, 8, "attempt 3 of 3, worker lost"),
		feed(4, 5, watch.Reclaimed, 9, "attempt 1 of 3"),
		feed(5, 6, watch.Buried, 10, "attempt 1 of 3"),
		feed(6, 60, watch.Completed, 99, "the last"),
	}}
	events := crew{
		{At: at(0), What: workers.ReapedBack, JobID: 8},
		{At: at(2), What: workers.ReapedBack, JobID: 8},
		{At: at(4), What: workers.ReapedDead, JobID: 8},
	}
	got := printed(t, s, events, "the last")
	for line, want := range map[string]int{" 8 ": 3, " 9 reclaimed": 1, " 10 buried": 1} {
		if n := strings.Count(got, line); n != want {
			t.Errorf("%d lines with %q, want %d, in:\n%s", n, line, want, got)
		}
	}
}

func TestCancelIsToldOnceWithWho(t *testing.T) {
	t.Parallel()
	s := watch.State{Events: []watch.Event{
		{Seq: 1, At: noon, Source: watch.FromWAL, JobID: 8, Queue: "emails", What: watch.CancelAsked, Owner: "host:1:ab/w3#9", Note: "by ann"},
		{Seq: 2, At: noon, Source: watch.FromWAL, JobID: 8, Queue: "emails", What: watch.Cancelled, Owner: "host:1:ab/w3#9", Note: "by ann"},
		{Seq: 3, At: noon, Source: watch.Polled, Queue: "emails", What: watch.Paused, Note: "by bob"},
	}}
	got := printed(t, s, crew{{At: noon, What: workers.Cancelled, Worker: "w3", JobID: 8, Queue: "emails", Text: "job 8 cancelled by ann"}}, "paused")
	if n := strings.Count(got, "asked") + strings.Count(got, "w3 cancelled"); n != 1 {
		t.Errorf("the request is told %d times in:\n%s", n, got)
	}
	for _, line := range []string{"8 emails cancelled w3@host, by ann\n", "poll  emails paused, by bob\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
}

func TestDepthsSayWhichQueuesArePaused(t *testing.T) {
	t.Parallel()
	s := watch.State{
		Polling: watch.Link{OK: true},
		Depths:  watch.Depths{Source: watch.Polled, Queues: []watch.QueueDepth{{QueueDepth: queue.QueueDepth{Queue: "emails"}}}},
		Pauses:  watch.Pauses{List: []queue.Pause{{Queue: "emails", By: "ann"}}},
	}
	if got := printed(t, s, nil, "depth"); !strings.Contains(got, "depth emails (paused by ann): ready 0") {
		t.Errorf("printed %q", got)
	}
}
