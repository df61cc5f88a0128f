package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRandomLivesFollowTheModel runs operations in random order on a few jobs, with
// leases fresh and stale, beside a worker of the article's statements and an operator
// with a program of the first release, and compares every row with a model in memory after each. A worker that crashes is one whose
// leases nobody ends.
func TestRandomLivesFollowTheModel(t *testing.T) {
	t.Parallel()
	q := open(t)
	article, old := readArticle(t, q), openFirstLight(t, q)
	rapid.Check(t, func(rt *rapid.T) {
		exec(t, q, "truncate leasetop.jobs, leasetop.jobs_archive, leasetop.queues")
		q.marks.byQueue.Clear()
		m := &model{test: t, q: q, article: article, old: old, jobs: map[int64]*modelJob{}}
		rt.Repeat(map[string]func(*rapid.T){
			"":                 m.check,
			"enqueue":          m.enqueue,
			"enqueue many":     m.enqueueMany,
			"claim":            m.claim,
			"heartbeat":        m.heartbeat,
			"complete":         m.outcome("complete", func(j *modelJob) { j.end(Completed) }),
			"bury":             m.outcome("bury", func(j *modelJob) { j.bury() }),
			"release":          m.outcome("release", func(j *modelJob) { j.giveBack(true) }),
			"snooze":           m.outcome("snooze", func(j *modelJob) { j.giveBack(false) }),
			"retry":            m.outcome("retry", func(j *modelJob) { j.retry() }),
			"take back":        m.outcome("takeBack", func(j *modelJob) { j.takenBack() }),
			"run now":          m.runNow,
			"edit":             m.edit,
			"expire":           m.expire,
			"wait":             m.wait,
			"reclaim":          m.reclaim,
			"redrive":          m.redrive,
			"cancel":           m.cancel,
			"discard":          m.discard,
			"restore":          m.restore,
			"purge":            m.purge,
			"pause":            m.pause,
			"article claims":   m.articleClaims,
			"article ends":     m.articleEnds,
			"article reclaims": m.articleReclaims,
			"old redrives":     m.oldRedrives,
		})
	})
}

type modelJob struct {
	status         Status
	attempts, most int
	key            string
	token          string // "" unless processing
	due            bool   // counts while pending
	expired        bool
	cancelled      string // by whom
	archived       bool
	edits          int // how often its payload, {} at first, was counted up
	history        []string
}

// end ends what the job was in; what was noted of it comes to its history.
func (j *modelJob) end(status Status, outcome ...string) {
	j.status, j.token, j.expired = status, "", false
	j.history = append(j.history, outcome...)
}

func (j *modelJob) retry() {
	j.due = true
	switch {
	case j.cancelled != "":
		j.end(Dead, "cancelled")
	case j.attempts < j.most:
		j.end(Pending, "retry")
	default:
		j.end(Failed, "failed")
	}
}

func (j *modelJob) bury() {
	if j.cancelled != "" {
		j.end(Dead, "cancelled")
		return
	}
	j.end(Dead, "buried")
}

func (j *modelJob) giveBack(due bool) {
	if j.cancelled != "" {
		j.end(Dead, "cancelled")
		return
	}
	j.end(Pending)
	j.due, j.attempts = due, max(j.attempts-1, 0)
}

func (j *modelJob) takenBack() {
	if j.giveBack(true); j.status == Pending {
		j.history = append(j.history, "taken back")
	}
}

// noted comes to the history of a job that waits or is dead. A cancel from before a redrive
// is not meant any more.
func (j *modelJob) noted(outcome string) {
	if last := len(j.history) - 1; last >= 0 && j.history[last] == "redriven" {
		j.cancelled = ""
	}
	j.history = append(j.history, outcome)
}

// holds tells whether the job keeps its idempotency key from others.
func (j *modelJob) holds(key string) bool {
	return key != "" && j.key == key && !j.archived && (j.status == Pending || j.status == Processing)
}

func (j *modelJob) String() string {
	kept := j.history[max(len(j.history)-20, 0):]
	return fmt.Sprintf("%s of %q, archived %v, attempt %d of %d, cancelled by %q, %v", j.status, j.token, j.archived, j.attempts, j.most, j.cancelled, kept)
}

type model struct {
	test    *testing.T
	q       *Queue
	article *article
	old     *firstLight
	jobs    map[int64]*modelJob
	leases  []Lease // every one there ever was
	paused  bool
}

func (m *model) holder(key string) int64 {
	for id, j := range m.jobs {
		if j.holds(key) {
			return id
		}
	}
	return 0
}

// some draws a few of the jobs there are.
func (m *model) some(t *rapid.T) []int64 {
	var all []int64
	for id := range m.jobs {
		all = append(all, id)
	}
	if len(all) == 0 {
		t.Skip("no job yet")
	}
	slices.Sort(all)
	return rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, min(3, len(all)), rapid.ID).Draw(t, "jobs")
}

func (m *model) check(t *rapid.T) {
	rows, err := m.q.Pool().Query(m.test.Context(), `
		select id, status, attempts, coalesce(locked_by, ''), max_attempts, coalesce(cancelled_by, ''), false,
			(select coalesce(array_agg(a ->> 'outcome'), '{}') from jsonb_array_elements(errors) a), run_at <= now(), coalesce(last_error, '') from leasetop.jobs
		union all
		select id, status, attempts, '', max_attempts, coalesce(cancelled_by, ''), true,
			(select coalesce(array_agg(a ->> 'outcome'), '{}') from jsonb_array_elements(errors) a), run_at <= now(), coalesce(last_error, '') from leasetop.jobs_archive`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // also when the check fails: what failed is tried again and again
	seen := map[int64]bool{}
	waiting, due := false, false
	for rows.Next() {
		var id int64
		var got modelJob
		var lastError string
		if err := rows.Scan(&id, &got.status, &got.attempts, &got.token, &got.most, &got.cancelled, &got.archived, &got.history, &got.due, &lastError); err != nil {
			t.Fatal(err)
		}
		want := m.jobs[id]
		if want == nil || seen[id] || got.String() != want.String() || got.status == Pending && got.due != want.due {
			t.Fatalf("job %d is\n%v, want\n%v; due %v", id, &got, want, got.due)
		}
		if last := len(got.history) - 1; last >= 0 && got.history[last] == "cancelled" && lastError != "cancelled by "+got.cancelled {
			t.Fatalf("job %d, cancelled by %q, has the error %q", id, got.cancelled, lastError)
		}
		seen[id] = true
		waiting, due = waiting || got.status == Pending, due || got.status == Pending && got.due
	}
	if err := rows.Err(); err != nil || len(seen) != len(m.jobs) {
		t.Fatalf("%d jobs, want %d: %v", len(seen), len(m.jobs), err)
	}
	in, found, err := m.q.NextDue(m.test.Context(), []string{"emails"})
	if err != nil || found != (waiting && !m.paused) || found && due != (in <= 0) {
		t.Fatalf("next due in %v, %v, %v; waiting %v, due %v, paused %v", in, found, err, waiting, due, m.paused)
	}
}

// wait lets everything become due.
func (m *model) wait(*rapid.T) {
	exec(m.test, m.q, "update leasetop.jobs set run_at = now() - interval '1 minute' where status = 'pending' and run_at > now()")
	for _, j := range m.jobs {
		j.due = j.due || j.status == Pending && !j.archived
	}
}

func (m *model) expire(t *rapid.T) {
	for _, id := range m.some(t) {
		if j := m.jobs[id]; j.status == Processing {
			expire(m.test, m.q, id)
			j.expired = true
		}
	}
}

// anyLease draws one that there ever was.
func (m *model) anyLease(t *rapid.T) Lease {
	if len(m.leases) == 0 {
		t.Skip("no lease yet")
	}
	return rapid.SampledFrom(m.leases).Draw(t, "lease")
}

// stands tells whether a lease is the job's own still.
func (m *model) stands(lease Lease) bool {
	j := m.jobs[lease.ID]
	return j != nil && j.status == Processing && j.token == lease.Token
}
