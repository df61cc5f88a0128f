package queue

import (
	"errors"
	"testing"
	"time"
)

func TestWhyWaiting(t *testing.T) {
	t.Parallel()
	q := open(t)
	why := func(id int64) Waiting {
		t.Helper()
		return must[Waiting](t)(q.WhyWaiting(t.Context(), id))
	}
	// The order is that of claims: by run_at, then by id.
	third, second := enqueue(t, q, NewJob{}), enqueue(t, q, NewJob{RunAt: At(time.Now().Add(-time.Hour))})
	first := enqueue(t, q, NewJob{RunAt: Time{Infinity: -1}})
	later := enqueue(t, q, NewJob{Delay: time.Hour})
	far, never := enqueue(t, q, NewJob{RunAt: At(time.Date(294275, 1, 1, 0, 0, 0, 0, time.UTC))}), enqueue(t, q, NewJob{RunAt: Time{Infinity: 1}})
	enqueue(t, q, NewJob{Queue: "reports", RunAt: Time{Infinity: -1}})
	for id, ahead := range map[int64]int64{first: 0, second: 1, third: 2, later: 3, far: 3, never: 3} {
		if w := why(id); w.Ahead != ahead || w.Capped || w.Paused != nil || w.Running != 0 || w.LastTook != nil || w.Never != (id == never) {
			t.Errorf("job %d, which is behind %d: %+v", id, ahead, w)
		}
	}
	if w := why(third); w.Due > 0 || w.Due < -time.Minute {
		t.Errorf("due now: %v", w.Due)
	}
	if w := why(later); w.Due < 59*time.Minute || w.Due > time.Hour {
		t.Errorf("due in an hour: %v", w.Due)
	}
	if w := why(far); w.Due < 290*365*24*time.Hour {
		t.Errorf("due in 292,000 years: %v", w.Due)
	}

	running := claim(t, q, time.Minute)
	pause(t, q, "emails")
	if w := why(third); w.Ahead != 1 || w.Running != 1 || w.LastTook == nil || !w.LastTook.Equal(*running.LockedAt) ||
		w.Paused == nil || w.Paused.Queue != "emails" || w.Paused.By != "ann" || w.Paused.Why != "the mail server is down" || w.Paused.Since.IsZero() {
		t.Errorf("behind a pause: %+v", w)
	}
	for _, id := range []int64{running.ID, 4711} {
		if _, err := q.WhyWaiting(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("job %d: %v", id, err)
		}
	}
}

// It counts so many and no more.
func TestWhyWaitingIsBounded(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, $1)", aheadMost+5)
	last := enqueue(t, q, NewJob{Delay: time.Second})
	for id, want := range map[int64]Waiting{1: {}, aheadMost: {Ahead: aheadMost - 1}, last: {Ahead: aheadMost, Capped: true}} {
		if w := must[Waiting](t)(q.WhyWaiting(t.Context(), id)); w.Ahead != want.Ahead || w.Capped != want.Capped {
			t.Errorf("job %d: %+v", id, w)
		}
	}
}
