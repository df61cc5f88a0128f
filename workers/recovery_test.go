package workers

import (
	"testing"
	"time"
)

func TestWorstRecoveryIsOfAllReclaimsButThoseItCounts(t *testing.T) {
	t.Parallel()
	var r Recovery
	for _, step := range []struct {
		why  string
		tell Event
		want Recovery
	}{
		{"late while nobody could look", Event{What: ReapedBack, Late: time.Hour}, Recovery{Unwatched: 1}},
		{"watched", Event{What: ReapedBack, Late: 20 * time.Millisecond, Watched: true}, Recovery{Judged: 1, Worst: 20 * time.Millisecond, Unwatched: 1}},
		{"buried", Event{What: ReapedDead, Late: 30 * time.Millisecond, Watched: true}, Recovery{Judged: 2, Worst: 30 * time.Millisecond, Unwatched: 1}},
		{"in time needs no witness", Event{What: ReapedBack, Late: RecoveryBound}, Recovery{Judged: 3, Worst: RecoveryBound, Unwatched: 1}},
		{"sooner than the worst", Event{What: ReapedBack, Late: time.Millisecond, Watched: true}, Recovery{Judged: 4, Worst: RecoveryBound, Unwatched: 1}},
		{"just too late, unwatched", Event{What: ReapedDead, Late: RecoveryBound + 1}, Recovery{Judged: 4, Worst: RecoveryBound, Unwatched: 2}},
		{"just too late under its eyes", Event{What: ReapedBack, Late: RecoveryBound + 1, Watched: true}, Recovery{Judged: 5, Worst: RecoveryBound + 1, Unwatched: 2}},
		{"no reclaim", Event{What: LeaseLost, Late: time.Hour, Watched: true}, Recovery{Judged: 5, Worst: RecoveryBound + 1, Unwatched: 2}},
	} {
		if r.Note(step.tell); r != step.want {
			t.Errorf("%s: %+v, want %+v", step.why, r, step.want)
		}
	}
}
