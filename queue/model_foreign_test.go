package queue

import (
	"pgregory.net/rapid"
)

// What a worker of the article does: it knows nothing of pauses, of cancels or of a
// token for each claim, and its retry at the last attempt does nothing.

func (m *model) articleClaims(t *rapid.T) {
	worker := rapid.SampledFrom([]string{articleWorker, articleWorker + "2"}).Draw(t, "worker")
	if job := m.article.claim("emails", worker); job != nil {
		m.claimed(t, job["id"].(int64), worker)
		return
	}
	for id, j := range m.jobs {
		if j.status == Pending && j.due && !j.archived {
			t.Fatalf("the article claimed nothing while job %d was due", id)
		}
	}
}

func (m *model) articleEnds(t *rapid.T) {
	lease := m.anyLease(t)
	how := rapid.SampledFrom([]string{"heartbeat", "complete", "retry", "bury"}).Draw(t, "how")
	args := []any{lease.ID, lease.Token}
	if how == "retry" || how == "bury" {
		args = append(args, "x")
	}
	j, wrote := m.jobs[lease.ID], m.article.run(how, args...) == 1
	if can := m.stands(lease) && (how != "retry" || j.attempts < j.most); wrote != can {
		t.Fatalf("the article's %s with %v wrote: %v, while the job is %v", how, lease, wrote, j)
	}
	if !wrote {
		return
	}
	switch how {
	case "heartbeat":
		j.expired = false
	case "complete":
		j.end(Completed)
	case "retry":
		j.end(Pending)
		j.due = false
	case "bury":
		j.end(Dead)
	}
}

// oldRedrives does what a program of the first release does: it knows no cancels, so
// the mark of one stays until the next claim that knows it.
func (m *model) oldRedrives(t *rapid.T) {
	id := m.some(t)[0]
	j := m.jobs[id]
	if m.holder(j.key) != 0 {
		t.Skip("its key is in use")
	}
	queue, err := askOne[string](m.test.Context(), m.old, "redrive", id, "ann")
	if can := j.status.IsDeadLetter() && !j.archived; err != nil || can != (queue != "") {
		t.Fatalf("the old redrive of %v: %q, %v", j, queue, err)
	}
	if queue != "" {
		j.end(Pending, "redriven")
		j.attempts, j.due = 0, true
	}
}

func (m *model) articleReclaims(t *rapid.T) {
	n := m.article.run("reclaim")
	for _, j := range m.jobs {
		if j.expired && j.attempts < j.most {
			j.end(Pending)
			n--
		}
	}
	if n != 0 {
		t.Fatalf("the article reclaimed %d too many", n)
	}
}
