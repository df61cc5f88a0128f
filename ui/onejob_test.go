package ui

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// oneJobs is what the world knows of single jobs.
type oneJobs struct {
	whole     map[int64]*queue.Job // instead of the sample
	waiting   queue.Waiting
	keyHolder int64
	originals []queue.Original // oldest first
	refuses   error            // what an edit is answered
	logDown   error            // what the operator log answers
	edits     []queue.Edit
	entries   []queue.Act // the operator log as it is read, newest first
}

// job is the sample, or what a test put in its place.
func (w *world) job(id int64) *queue.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.whole[id]; j != nil {
		copied := *j
		return &copied
	}
	return sampleJob(id)
}

// has puts a job in the place of the sample.
func (w *world) has(j *queue.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.whole == nil {
		w.whole = map[int64]*queue.Job{}
	}
	w.whole[j.ID] = j
}

func (w *world) WhyWaiting(context.Context, int64) (queue.Waiting, error) {
	w.touch("why waiting")
	return w.waiting, w.down
}

func (w *world) RefusedJob(_ context.Context, id int64) (*queue.Refused, error) {
	return w.refused[id], nil
}

func (w *world) KeyHolder(context.Context, string, string) (int64, error) {
	w.touch("key holder")
	return w.keyHolder, w.down
}

func (w *world) Originals(context.Context, int64) ([]queue.Original, error) {
	w.touch("originals")
	return append([]queue.Original(nil), w.originals...), w.down
}

func (w *world) EditPayload(_ context.Context, by string, e queue.Edit) (bool, error) {
	if w.refuses != nil {
		return false, w.refuses
	}
	w.note("edit %d redrive %t by %s", e.ID, e.Redrive, by)
	w.edits = append(w.edits, e)
	return string(e.Was) != string(e.Payload), w.down
}

// act does something to jobs, but for those that are to be skipped.
func (w *world) act(what, by string, ids []int64) (done queue.Done, err error) {
	w.note("%s %v by %s", what, ids, by)
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.IDs = append(done.IDs, id)
	}
	return done, w.down
}

func (w *world) RunNow(_ context.Context, by string, ids ...int64) (queue.Done, error) {
	return w.act("run now", by, ids)
}

func (w *world) TakeBack(_ context.Context, by string, lease queue.Lease) error {
	w.note("take back %d from %s by %s", lease.ID, lease.Token, by)
	if _, lost := w.skip[lease.ID]; lost {
		return fmt.Errorf("job %d: %w", lease.ID, queue.ErrLeaseLost)
	}
	return w.down
}

func (w *world) Acts(_ context.Context, before int64, limit int) (acts []queue.Act, err error) {
	w.touch("acts")
	for _, a := range w.entries {
		if (before == 0 || a.ID < before) && len(acts) < limit {
			acts = append(acts, a)
		}
	}
	return acts, w.down
}

// sampleActs are entries of every kind.
func sampleActs() []queue.Act {
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	took := func(ago, took time.Duration) *time.Time { t := noon.Add(took - ago); return &t }
	return []queue.Act{
		{ID: 77, At: at(12 * time.Second), By: "bob@ops2", Role: "app", What: "discard", Filter: `queue:emails error:"mailbox full" age:>7d`, Reason: "bounced for good, sales knows", IDs: []int64{71002, 71005, 71009}, Asked: 1204},
		{ID: 76, At: at(65 * time.Second), Ended: took(65*time.Second, 8*time.Millisecond), By: "ann@shop1", Role: "app", What: "reveal", IDs: []int64{88007}, Asked: 1, Done: 1},
		{ID: 75, At: at(4 * time.Minute), Ended: took(4*time.Minute, 21*time.Millisecond), By: "ann@shop1", Role: "app", What: "edit", IDs: []int64{88007}, Asked: 1, Done: 1, Reason: "and redrive"},
		{ID: 74, At: at(9 * time.Minute), Ended: took(9*time.Minute, 2210*time.Millisecond), By: "ann@shop1", Role: "app", What: "plan", Filter: `queue:emails error:"SMTP 421"`, Reason: "mx1 is back", Plan: 14, Asked: 31204, Done: 31204},
		{ID: 73, At: at(31 * time.Minute), Ended: took(31*time.Minute, 3*time.Millisecond), By: "ann@shop1", Role: "app", What: "pause", Filter: "emails", Reason: "mx1 limits us until noon", Asked: 1, Done: 1},
		{ID: 72, At: at(3 * time.Hour), Ended: took(3*time.Hour, 15*time.Second), By: "cron@ops1", Role: "maintenance", What: "purge", Filter: "completed", Asked: 120_000, Done: 118_500, Error: "canceling statement due to statement timeout"},
		{ID: 71, At: at(26 * time.Hour), Ended: took(26*time.Hour, 40*time.Millisecond), By: "bob@ops2", Role: "app", What: "redrive", IDs: []int64{87001, 87002, 87011, 87013, 87020, 87031}, Asked: 6, Done: 5, Skips: 1},
	}
}
