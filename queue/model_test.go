package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// TestRandomLivesFollowTheModel runs operations in random order on a few jobs, with
// leases fresh and stale, and compares every row with a model in memory after each.
func TestRandomLivesFollowTheModel(t *testing.T) {
	t.Parallel()
	q := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		exec(t, q, "truncate leasetop.jobs")
		q.marks.byQueue.Clear()
		m := &model{test: t, q: q, jobs: map[int64]*modelJob{}}
		rt.Repeat(map[string]func(*rapid.T){
			"":          m.check,
			"enqueue":   m.enqueue,
			"claim":     m.claim,
			"heartbeat": m.outcome("heartbeat", func(j *modelJob) {}),
			"complete":  m.outcome("complete", func(j *modelJob) { j.end(Completed) }),
			"bury":      m.outcome("bury", func(j *modelJob) { j.end(Dead, "buried") }),
			"release":   m.outcome("release", func(j *modelJob) { j.end(Pending); j.attempts-- }),
			"retry": m.outcome("retry", func(j *modelJob) {
				if j.attempts < j.most {
					j.end(Pending, "retry")
				} else {
					j.end(Failed, "failed")
				}
			}),
			"expire":  m.expire,
			"reclaim": m.reclaim,
			"redrive": m.redrive,
		})
	})
}

type modelJob struct {
	status         Status
	attempts, most int
	key            string
	token          string // "" unless processing
	expired        bool
	history        []string
}

func (j *modelJob) end(status Status, outcome ...string) {
	j.status, j.token, j.expired = status, "", false
	j.history = append(j.history, outcome...)
}

type model struct {
	test   *testing.T
	q      *Queue
	jobs   map[int64]*modelJob
	order  []int64
	leases []Lease // every one there ever was
}

func (m *model) holder(key string) int64 {
	for id, j := range m.jobs {
		if key != "" && j.key == key && (j.status == Pending || j.status == Processing) {
			return id
		}
	}
	return 0
}

func (m *model) enqueue(t *rapid.T) {
	job := NewJob{Queue: "emails", MaxAttempts: rapid.IntRange(1, 3).Draw(t, "most"), IdempotencyKey: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key")}
	out, err := m.q.Enqueue(m.test.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if holder := m.holder(job.IdempotencyKey); out[0].Existing != (holder != 0) || holder != 0 && out[0].ID != holder {
		t.Fatalf("enqueued %+v, the key's holder is %d", out[0], holder)
	}
	if !out[0].Existing {
		m.jobs[out[0].ID] = &modelJob{status: Pending, most: job.MaxAttempts, key: job.IdempotencyKey}
		m.order = append(m.order, out[0].ID)
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
		if j.status == Pending {
			due++
		}
	}
	if len(got) != min(due, limit) {
		t.Fatalf("claimed %d with a limit of %d while %d were due", len(got), limit, due)
	}
	for i := range got {
		j := m.jobs[got[i].ID]
		if j.status != Pending {
			t.Fatalf("claimed job %d, which was %s", got[i].ID, j.status)
		}
		j.status, j.token, j.attempts = Processing, token, j.attempts+1
		m.leases = append(m.leases, got[i].Lease())
	}
}

// outcome tries an operation with any lease there ever was; then tells what it does
// when the lease stands.
func (m *model) outcome(name string, then func(*modelJob)) func(*rapid.T) {
	return func(t *rapid.T) {
		if len(m.leases) == 0 {
			t.Skip("no lease yet")
		}
		lease := rapid.SampledFrom(m.leases).Draw(t, "lease")
		var err error
		if name == "retry" {
			_, err = m.q.Retry(m.test.Context(), lease, "x", 0)
		} else {
			err = operations[name](m.test, m.q, "", lease)
		}
		j := m.jobs[lease.ID]
		if stands := j.token == lease.Token; stands != (err == nil) || !stands && !errors.Is(err, ErrLeaseLost) {
			t.Fatalf("%s with %v: %v, while the job is %s of %q", name, lease, err, j.status, j.token)
		}
		if err == nil {
			j.expired = false
			then(j)
		}
	}
}

func (m *model) any(t *rapid.T) (int64, *modelJob) {
	if len(m.order) == 0 {
		t.Skip("no job yet")
	}
	id := rapid.SampledFrom(m.order).Draw(t, "job")
	return id, m.jobs[id]
}

func (m *model) expire(t *rapid.T) {
	id, j := m.any(t)
	if j.status == Processing {
		expire(m.test, m.q, id)
		j.expired = true
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
	}
	for id, j := range m.jobs {
		if _, was := back[id]; was != j.expired {
			t.Fatalf("job %d, expired %v: reclaimed %v", id, j.expired, was)
		}
		if j.expired {
			status := Pending
			if j.attempts >= j.most {
				status = Dead
			}
			if j.end(status, "lost"); back[id] != status {
				t.Fatalf("job %d was reclaimed as %s, want %s", id, back[id], status)
			}
		}
	}
}

func (m *model) redrive(t *rapid.T) {
	id, j := m.any(t)
	done, err := m.q.Redrive(m.test.Context(), "ann", id)
	if err != nil {
		t.Fatal(err)
	}
	can := j.status.IsDeadLetter() && m.holder(j.key) == 0
	if (len(done.IDs) == 1) != can || (len(done.Skipped) == 1) == can {
		t.Fatalf("redrive of a %s job: %+v", j.status, done)
	}
	if can {
		j.end(Pending, "redriven")
		j.attempts = 0
	}
}

func (m *model) check(t *rapid.T) {
	rows, err := m.q.Pool().Query(m.test.Context(), `select id, status, attempts, coalesce(locked_by, ''), max_attempts,
		coalesce((select string_agg(a ->> 'outcome', ' ') from jsonb_array_elements(errors) a), '') from leasetop.jobs`)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var id int64
	var got modelJob
	var history string
	if _, err := pgx.ForEachRow(rows, []any{&id, &got.status, &got.attempts, &got.token, &got.most, &history}, func() error {
		seen++
		want := m.jobs[id]
		if got.status != want.status || got.attempts != want.attempts || got.token != want.token || got.most != want.most {
			t.Fatalf("job %d is %s of %q at attempt %d, want %s of %q at %d", id, got.status, got.token, got.attempts, want.status, want.token, want.attempts)
		}
		if kept := strings.Join(want.history[max(len(want.history)-20, 0):], " "); history != kept {
			t.Fatalf("job %d has the history %q, want %q", id, history, kept)
		}
		return nil
	}); err != nil || seen != len(m.jobs) {
		t.Fatalf("%d jobs, want %d: %v", seen, len(m.jobs), err)
	}
}
