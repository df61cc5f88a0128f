package queue

import (
	"testing"
	"time"
)

// An article-style worker knows nothing of cancellation: it retries the job. The next
// claim of ours is told, and ends it.
func TestCancelledJobThatAnArticleWorkerRetried(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	for _, how := range []string{"retry", "reclaim"} {
		a.run("insert")
		id := a.claim("emails", articleWorker)["id"].(int64)
		cancelled(t, q, "ann", id).want(t, how, nil, []int64{id})
		if n := a.run("heartbeat", id, articleWorker); n != 1 {
			t.Errorf("%s: %d beats", how, n)
		}
		if how == "retry" {
			a.run("retry", id, articleWorker, "503")
			exec(t, q, "update leasetop.jobs set run_at = now() where id = $1", id)
		} else {
			expire(t, q, id)
			a.run("reclaim")
		}
		if job := get(t, q, id); job.Status != Pending || job.CancelledBy != "ann" {
			t.Errorf("%s: it is %+v", how, job)
		}
		job := claim(t, q, time.Minute)
		if job.ID != id || job.CancelledBy != "ann" {
			t.Errorf("%s: claimed %+v", how, job)
		}
		must[Status](t)(q.Release(t.Context(), job.Lease()))
		if job := get(t, q, id); job.Status != Dead || job.LastError != "cancelled by ann" {
			t.Errorf("%s: it is %s: %s", how, job.Status, job.LastError)
		}

		// Cancelled again while it is pending: dead at once, by who asked first.
		a.run("insert")
		id = a.claim("emails", articleWorker)["id"].(int64)
		cancelled(t, q, "ann", id)
		a.run("retry", id, articleWorker, "503")
		cancelled(t, q, "bob", id).want(t, "pending again", []int64{id}, nil)
		if job := get(t, q, id); job.LastError != "cancelled by ann" || job.CancelledBy != "ann" || outcomes(job)[0] != "1 cancelled by bob: " {
			t.Errorf("%s by %s, history %q", job.LastError, job.CancelledBy, outcomes(job))
		}
	}
}

// Also when the job was redriven before: the cancel is of what runs now.
func TestCancelOfARedrivenJobThatAnArticleWorkerRetried(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	id := buried(t, q, NewJob{})
	must[Done](t)(q.Redrive(t.Context(), "ann", id))
	a.claim("emails", articleWorker)
	cancelled(t, q, "bob", id).want(t, "redriven", nil, []int64{id})
	expire(t, q, id)
	a.run("reclaim")
	if job := claim(t, q, time.Minute); job.ID != id || job.CancelledBy != "bob" {
		t.Errorf("claimed %+v", job)
	}
}
