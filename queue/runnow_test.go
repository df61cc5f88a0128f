package queue

import (
	"strconv"
	"testing"
	"time"
)

func TestRunNowMakesScheduledJobsDue(t *testing.T) {
	t.Parallel()
	q := open(t)
	later, never := enqueue(t, q, NewJob{Delay: time.Hour}), enqueue(t, q, NewJob{RunAt: Time{Infinity: 1}})
	ears := listen(t, q, q.Schema().ReadyChannel())
	wantDone(t, "run now", must[Done](t)(q.RunNow(t.Context(), "ann", later, never, later)), []int64{later, never})
	ears.hears(t, "emails")
	for _, id := range []int64{later, never} {
		j := claim(t, q, time.Minute)
		if j.ID != id {
			t.Errorf("claimed %d, want %d", j.ID, id)
		}
		if last := get(t, q, id).Errors[0]; last.Outcome != "run now" || last.Worker != "ann" {
			t.Errorf("%+v", last)
		}
	}
}

// CASES "Fresh budget": asked for again and again, and of jobs that are due, run or are over.
func TestRunNowOfWhatDoesNotWait(t *testing.T) {
	t.Parallel()
	q := open(t)
	running := claimed(t, q, NewJob{}, time.Minute).ID
	dead := buried(t, q, NewJob{})
	due := enqueue(t, q, NewJob{})
	before := rowOf(t, q, running) + rowOf(t, q, dead) + rowOf(t, q, due)
	for range 3 {
		wantDone(t, "run now", must[Done](t)(q.RunNow(t.Context(), "ann", running, dead, due, 4711)), nil,
			Skip{ID: running, Reason: "not waiting: processing"}, Skip{ID: dead, Reason: "not waiting: dead"}, Skip{ID: due, Reason: "due already"}, Skip{ID: 4711, Reason: "no such job", Failed: true})
	}
	if rowOf(t, q, running)+rowOf(t, q, dead)+rowOf(t, q, due) != before {
		t.Error("something was written")
	}
}

// Many, and what becomes of them on the way, is told job by job.
func TestRunNowOfMany(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, run_at) select 'q' || n % 3, now() + interval '1 day' from generate_series(1, 450) n")
	ids := make([]int64, 450)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	ears := listen(t, q, q.Schema().ReadyChannel())
	if done := must[Done](t)(q.RunNow(t.Context(), "ann", ids...)); len(done.IDs) != 450 || len(done.Skipped) != 0 {
		t.Errorf("%d done, %v", len(done.IDs), done.Skipped)
	}
	var queues []string
	for i := range 3 {
		queues = append(queues, "q"+strconv.Itoa(i))
	}
	ears.hears(t, queues...)
	if n := count(t, q, "select count(*) from leasetop.jobs where run_at <= now()"); n != 450 {
		t.Errorf("%d are due", n)
	}
}
