package faults

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// The events that are kept are the last; what was taken back is summed up of all.
func TestRecoveryOfACrewIsOfMoreThanTheEventsThatAreKept(t *testing.T) {
	t.Parallel()
	var c Crew
	c.news.add(workers.Event{What: workers.ReapedBack, Late: time.Hour})
	c.news.add(workers.Event{What: workers.ReapedDead, Late: time.Second, Watched: true})
	for range workers.EventsKept {
		c.news.add(workers.Event{What: workers.ReapedBack, Late: time.Millisecond, Watched: true})
	}
	want := workers.Recovery{Judged: 1 + workers.EventsKept, Worst: time.Second, Unwatched: 1}
	if got := c.Recovery(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
