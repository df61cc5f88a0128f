package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// The operations of the model: each is done to the queue and to the model, and what it
// tells is compared.

func (m *model) newJob(t *rapid.T) NewJob {
	return NewJob{
		Queue: "emails", MaxAttempts: rapid.IntRange(1, 3).Draw(t, "most"),
		IdempotencyKey: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"),
		Delay:          rapid.SampledFrom([]time.Duration{0, 0, time.Hour}).Draw(t, "delay"),
	}
}

func (m *model) enqueue(t *rapid.T) {
	jobs := []NewJob{m.newJob(t)}
	out, err := m.q.Enqueue(m.test.Context(), jobs...)
	m.enqueued(t, jobs, out, err)
}

func (m *model) enqueueMany(t *rapid.T) {
	var jobs []NewJob
	for range rapid.IntRange(1, 4).Draw(t, "jobs") {
		jobs = append(jobs, m.newJob(t))
	}
	out, err := m.q.EnqueueMany(m.test.Context(), jobs)
	m.enqueued(t, jobs, out, err)
}

func (m *model) enqueued(t *rapid.T, jobs []NewJob, out []Enqueued, err error) {
	if err != nil || len(out) != len(jobs) {
		t.Fatal(out, err)
	}
	for i, job := range jobs {
		if holder := m.holder(job.IdempotencyKey); out[i].Existing != (holder != 0) || holder != 0 && out[i].ID != holder {
			t.Fatalf("enqueued %+v, the key's holder is %d", out[i], holder)
		}
		if !out[i].Existing {
			m.jobs[out[i].ID] = &modelJob{status: Pending, most: job.MaxAttempts, key: job.IdempotencyKey, due: job.Delay == 0}
		}
	}
}

func (m *model) claim(t *rapid.T) {
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	m.q.Forget("emails")
	fullLookDue(m.q, "emails")
	token := owner()
	got, err := m.q.Claim(m.test.Context(), ClaimRequest{Queue: "emails", Owner: token, Lease: time.Hour, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	due := 0
	for _, j := range m.jobs {
		if j.status == Pending && j.due && !m.paused {
			due++
		}
	}
	if len(got) != min(due, limit) {
		t.Fatalf("claimed %d with a limit of %d while %d were due, paused %v", len(got), limit, due, m.paused)
	}
	for i := range got {
		m.claimed(t, got[i].ID, token)
		if by := m.jobs[got[i].ID].cancelled; got[i].CancelledBy != by {
			t.Fatalf("claimed %+v, cancelled by %q", got[i], by)
		}
	}
}

func (m *model) claimed(t *rapid.T, id int64, token string) {
	j := m.jobs[id]
	if j == nil || j.status != Pending || !j.due || j.archived {
		t.Fatalf("claimed job %d, which was %v", id, j)
	}
	if last := len(j.history) - 1; j.cancelled != "" && last >= 0 && j.history[last] == "redriven" && !strings.HasPrefix(token, articleWorker) {
		j.cancelled = "" // an old redrive left it
	}
	j.status, j.token, j.attempts = Processing, token, j.attempts+1
	m.leases = append(m.leases, Lease{id, token})
}

func (m *model) heartbeat(t *rapid.T) {
	lease := m.anyLease(t)
	beat, err := m.q.Heartbeat(m.test.Context(), []Renewal{{Lease: lease, For: time.Hour}})
	if stands := m.stands(lease); err != nil || stands != (len(beat.Renewed) == 1) || stands == (len(beat.Lost) == 1) {
		t.Fatalf("beat %+v, %v; the lease stands: %v", beat, err, stands)
	}
	if !m.stands(lease) {
		return
	}
	j := m.jobs[lease.ID]
	j.expired = false
	if asked := len(beat.Cancelled) == 1; asked != (j.cancelled != "") || asked && beat.Cancelled[0] != (Cancellation{lease, j.cancelled}) {
		t.Fatalf("beat %+v, cancelled by %q", beat, j.cancelled)
	}
}

// outcome tries an operation with any lease there ever was; then tells what it does
// when the lease stands.
func (m *model) outcome(name string, then func(*modelJob)) func(*rapid.T) {
	return func(t *rapid.T) {
		lease := m.anyLease(t)
		var err error
		if name == "retry" {
			_, err = m.q.Retry(m.test.Context(), lease, "x", 0)
		} else {
			err = operations[name](m.test, m.q, "", lease)
		}
		if stands := m.stands(lease); stands != (err == nil) || !stands && !errors.Is(err, ErrLeaseLost) {
			t.Fatalf("%s with %v: %v, while the job is %v", name, lease, err, m.jobs[lease.ID])
		}
		if err == nil {
			then(m.jobs[lease.ID])
		}
	}
}

func (m *model) reclaim(t *rapid.T) {
	taken, err := m.q.Reclaim(m.test.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	back := map[int64]Status{}
	for _, r := range taken {
		back[r.ID] = r.Status
		if by := m.jobs[r.ID].cancelled; r.CancelledBy != by {
			t.Fatalf("reclaimed %+v, cancelled by %q", r, by)
		}
	}
	for id, j := range m.jobs {
		if _, was := back[id]; was != j.expired {
			t.Fatalf("job %d, expired %v: reclaimed %v", id, j.expired, was)
		}
		if j.expired {
			status := Pending
			if j.attempts >= j.most || j.cancelled != "" {
				status = Dead
			}
			if j.end(status, "lost"); back[id] != status {
				t.Fatalf("job %d was reclaimed as %s, want %s", id, back[id], status)
			}
		}
	}
}

// act compares what an operator's act told with what can be done to each job, in the
// order given.
func (m *model) act(t *rapid.T, what string, got []int64, skipped []Skip, err error, ids []int64, can func(*modelJob) bool, do func(*modelJob)) {
	var done, left []int64
	for _, id := range ids {
		if j := m.jobs[id]; can(j) {
			do(j)
			done = append(done, id)
		} else {
			left = append(left, id)
		}
	}
	var skips []int64
	for _, skip := range skipped {
		skips = append(skips, skip.ID)
	}
	for _, list := range []*[]int64{&got, &done, &left, &skips} {
		*list = slices.Sorted(slices.Values(*list))
	}
	if err != nil || !slices.Equal(got, done) || !slices.Equal(skips, left) {
		t.Fatalf("%s of %v: done to %v, skipped %v, %v; want %v done", what, ids, got, skipped, err, done)
	}
}

func (m *model) redrive(t *rapid.T) {
	ids := m.some(t)
	// Those without a key go together and first; of two with one key, the first has it.
	slices.SortStableFunc(ids, func(a, b int64) int {
		return min(len(m.jobs[a].key), 1) - min(len(m.jobs[b].key), 1)
	})
	done, err := m.q.Redrive(m.test.Context(), "ann", ids...)
	m.act(t, "redrive", done.IDs, done.Skipped, err, ids, func(j *modelJob) bool {
		return j.status.IsDeadLetter() && !j.archived && m.holder(j.key) == 0
	}, func(j *modelJob) {
		j.end(Pending, "redriven")
		j.attempts, j.cancelled, j.due = 0, "", true
	})
}

func (m *model) cancel(t *rapid.T) {
	ids, by := m.some(t), rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "by")
	done, err := m.q.Cancel(m.test.Context(), by, ids...)
	for _, id := range done.Asked {
		if m.jobs[id].status != Processing {
			t.Fatalf("asked the worker of job %d, which is %v", id, m.jobs[id])
		}
	}
	m.act(t, "cancel", append(done.IDs, done.Asked...), done.Skipped, err, ids, func(j *modelJob) bool {
		return (j.status == Pending || j.status == Processing) && !j.archived
	}, func(j *modelJob) {
		again := len(j.history) > 0 && j.history[len(j.history)-1] == "redriven"
		if j.cancelled == "" || again {
			j.cancelled = by
		}
		switch {
		case j.status == Pending:
			j.end(Dead, "cancelled")
		case again:
			j.history = append(j.history, "cancel asked")
		}
	})
}

func (m *model) runNow(t *rapid.T) {
	ids := m.some(t)
	done, err := m.q.RunNow(m.test.Context(), "ann", ids...)
	m.act(t, "run now", done.IDs, done.Skipped, err, ids, func(j *modelJob) bool {
		return j.status == Pending && !j.due && !j.archived
	}, func(j *modelJob) {
		j.noted("run now")
		j.due = true
	})
}

// edit counts the payload up, and redrives as well if that is drawn.
func (m *model) edit(t *rapid.T) {
	ids, redrive := m.some(t)[:1], rapid.Bool().Draw(t, "redrive")
	j := m.jobs[ids[0]]
	e := Edit{ID: ids[0], Was: json.RawMessage(fmt.Sprint(j.edits)), Payload: json.RawMessage(fmt.Sprint(j.edits + 1)), Redrive: redrive}
	if j.edits == 0 {
		e.Was = json.RawMessage(`{}`)
	}
	can := !j.archived && (j.status.IsDeadLetter() || j.status == Pending && !redrive) && (!redrive || m.holder(j.key) == 0)
	if changed, err := m.q.EditPayload(m.test.Context(), "ann", e); (err == nil) != can || changed != can {
		t.Fatalf("edit of job %d, which is %v: %v", ids[0], j, err)
	}
	if !can {
		return
	}
	j.edits++
	if j.noted("edited"); redrive {
		j.end(Pending, "redriven")
		j.attempts, j.cancelled, j.due = 0, "", true
	}
}

func (m *model) discard(t *rapid.T) {
	ids := m.some(t)
	done, err := m.q.Discard(m.test.Context(), "ann", "", ids...)
	m.act(t, "discard", done.IDs, done.Skipped, err, ids, func(j *modelJob) bool {
		return j.status.IsDeadLetter() && !j.archived
	}, func(j *modelJob) { j.archived = true })
}

func (m *model) restore(t *rapid.T) {
	ids := m.some(t)
	done, err := m.q.Restore(m.test.Context(), "ann", ids...)
	m.act(t, "restore", done.IDs, done.Skipped, err, ids, func(j *modelJob) bool { return j.archived }, func(j *modelJob) {
		j.archived = false
		j.history = append(j.history, "restored")
	})
}

func (m *model) purge(t *rapid.T) {
	what := rapid.SampledFrom([]PurgeWhat{PurgeCompleted, PurgeArchive}).Draw(t, "what")
	done, err := m.q.Purge(m.test.Context(), Purge{What: what}, nil)
	n := done.Deleted
	for id, j := range m.jobs {
		if what == PurgeCompleted && j.status == Completed || what == PurgeArchive && j.archived {
			delete(m.jobs, id)
			n--
		}
	}
	if err != nil || n != 0 {
		t.Fatalf("%d too many purged, %v", n, err)
	}
}

func (m *model) pause(t *rapid.T) {
	pause := rapid.Bool().Draw(t, "pause")
	var changed []string
	var err error
	if pause {
		changed, err = m.q.Pause(m.test.Context(), "ann", "", "emails")
	} else {
		changed, err = m.q.Resume(m.test.Context(), "emails")
	}
	if err != nil || (len(changed) == 1) != (pause != m.paused) {
		t.Fatalf("pause %v of a queue that was paused: %v; changed %q, %v", pause, m.paused, changed, err)
	}
	m.paused = pause
}
