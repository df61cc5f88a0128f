package ui

import (
	"runtime"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// TestADayOnTheScreenTakesNoMoreThanTwoHours shows a day of the demonstration, with bursts, in
// steps of half a minute. It runs by itself: it measures the whole process.
func TestADayOnTheScreenTakesNoMoreThanTwoHours(t *testing.T) {
	w := newWorld()
	s := newStage(t, w, 120, 36)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	job, seq, told := int64(1_000_000), uint64(0), uint64(0)
	if n := len(w.state.Events); n > 0 {
		seq = w.state.Events[n-1].Seq
	}
	var list []workers.Event
	for hour := range 24 {
		for step := range 120 {
			s.now = s.now.Add(30 * time.Second)
			w.now = s.now
			state := *w.state
			state.Version++
			state.Leases.List = nil
			var events []watch.Event
			for range 200 + 1000*(step%60/59) { // a burst every half an hour
				job++
				seq++
				events = append(events, watch.Event{Seq: seq, At: w.now, What: watch.Claimed, JobID: job, Count: 1, Queue: "emails", Kind: "send", Owner: "h:1:a/w1#" + itoa(job)})
			}
			for range 40 {
				state.Leases.List = append(state.Leases.List, watch.Lease{
					JobID: job - int64(len(state.Leases.List)), Queue: "emails", Kind: "send", Owner: "h:1:a/w1#" + itoa(job), LockedAt: w.now, ExpiresAt: w.now.Add(6 * time.Second), Attempts: 1,
				})
			}
			for range 5 {
				told++
				list = append(list, workers.Event{Seq: told, At: w.now, What: workers.ReapedBack, JobID: job + int64(told), Worker: "w1"})
			}
			list = list[max(len(list)-workers.EventsKept, 0):]
			state.Leases.Read, state.Leases.At = s.now, w.now
			state.Events = events[max(len(events)-watch.EventsKept, 0):]
			w.state = &state
			m := pulledMsg{state: w.state, workers: w.crew, last: told, news: append([]workers.Event(nil), list...)}
			s.app.Update(m)
			s.app.Update(eventsMsg{events: events})
		}
		s.app.View()
		switch now := heap(); {
		case hour == 1:
			early = now
		case hour > 1 && now > early+2<<20:
			t.Fatalf("%d kB after %d hours, %d kB after two", now>>10, hour+1, early>>10)
		}
	}
}
