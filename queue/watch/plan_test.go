package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A redrive plan and its undo are told as what they are; the undo is no death, whatever the job
// had died of.
func TestStreamTellsAPlanAndItsUndo(t *testing.T) {
	t.Parallel()
	f, q, _ := streams(t)
	ctx := t.Context()
	s := f.State()
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	do(t, q.Bury(ctx, job.Lease(), "poison"))
	cancelled := enqueue(t, q, queue.NewJob{})
	if _, err := q.Cancel(ctx, "carl", cancelled); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "enqueued emails", "claimed emails attempt 1 of 5", "buried emails attempt 1 of 5", "enqueued emails", "cancelled emails by carl")
	died := s.Depths

	plan, err := q.StartPlan(ctx, "ann", queue.NewPlan{IDs: []int64{job.ID, cancelled}})
	do(t, err)
	_, err = q.ExecutePlan(ctx, plan.ID, nil)
	do(t, err)
	s = tells(t, f, s, "redriven emails", "redriven emails")
	_, err = q.UndoPlan(ctx, "ann", "", plan.ID)
	do(t, err)
	_, err = q.ExecutePlan(ctx, plan.ID, nil)
	do(t, err)
	s = tells(t, f, s, "taken back emails", "taken back emails")
	if now := s.Depths.Queues[0]; now.Dead != died.Queues[0].Dead || now.Ready != 0 {
		t.Errorf("depths %+v, and before %+v", now, died.Queues[0])
	}
}

func TestTakenBackIsNoDeath(t *testing.T) {
	t.Parallel()
	was, now := &row{status: queue.Pending}, &row{status: queue.Dead}
	if n := movesOf(Event{What: TakenBack}, was, now); n.dead != 0 || n.failed != 0 || n.out != 1 {
		t.Errorf("%+v", n)
	}
	if n := movesOf(Event{What: Buried}, was, now); n.dead != 1 {
		t.Errorf("%+v", n)
	}
}
