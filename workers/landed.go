package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// landed tells whether a job that is not ours any more is as the handler's own
// transaction, or an earlier try of ours that was not answered, would have left it.
func (r *run) landed(o outcome, unsure bool) (queue.Status, bool) {
	if !unsure && !r.done {
		return "", false
	}
	now, err := r.look(outcomePatience)
	switch {
	case err != nil:
		return "", false
	case r.done && r.completedBy(now):
		return now.Status, true
	case !unsure:
		return "", false
	}
	return r.leftBy(o, now)
}

// leftBy tells whether this claim's outcome is what became of the job, and what status it
// left. The job's history says so even when another worker has the job by now.
func (r *run) leftBy(o outcome, now *queue.Job) (queue.Status, bool) {
	for _, a := range now.Errors {
		if status, ok := leaves[a.Outcome]; ok && a.Worker == r.lease.Token && a.Attempt == r.job.Attempts && o.status != queue.Completed {
			return status, true
		}
	}
	if now.CancelledBy != "" && now.Status == queue.Dead { // whatever outcome it was
		return now.Status, o.status != queue.Completed && now.Attempts == r.job.Attempts
	}
	attempts := r.job.Attempts
	if o.gaveBack {
		attempts--
	}
	asLeft := now.Status == o.status || (o.status == "" && (now.Status == queue.Pending || now.Status == queue.Failed))
	return now.Status, asLeft && now.Attempts == attempts
}

// leaves are the outcomes that a worker enters in a job's history, and what they leave.
var leaves = map[string]queue.Status{
	"retry": queue.Pending, "failed": queue.Failed, "buried": queue.Dead, "cancelled": queue.Dead,
}

// rereadFor is how long the row is read again for an outcome whose answer never came: its
// commit may be on its way.
const rereadFor = 3 * time.Second

// reread reads the row once the lease is not trusted any more and no try was answered. It
// returns the status that the outcome left; "" when it was not written, or not known.
func (r *run) reread(o outcome) (left queue.Status, known bool) {
	w := r.worker
	again := pace{min: 50 * time.Millisecond, max: 500 * time.Millisecond}
	for ends := time.Now().Add(rereadFor); ; {
		if !w.begin() {
			return "", false
		}
		now, err := r.look(max(time.Until(ends), time.Millisecond))
		w.end()
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return "", true
		case err == nil && r.done && r.completedBy(now):
			return now.Status, true
		case err == nil:
			known = true
			if status, ok := r.leftBy(o, now); ok {
				return status, true
			}
			if now.Status != queue.Processing || now.LockedBy != r.lease.Token {
				return "", true
			}
		}
		if !time.Now().Before(ends) {
			return "", known
		}
		timer := time.NewTimer(again.next())
		select {
		case <-timer.C:
		case <-w.gone:
		}
		timer.Stop()
	}
}

// regain takes back that the lease was lost: its outcome was written.
func (r *run) regain() {
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.lost {
		r.lost = false
		r.worker.lost--
	}
}

func (r *run) look(patience time.Duration) (*queue.Job, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), patience)
	defer cancel()
	job, _, err := r.worker.pool.q.Preview(ctx, r.job.ID, 0)
	return job, err
}

// fence notes that a late outcome matched no row: it changed nothing.
func (r *run) fence(name string) {
	w, p := r.worker, r.worker.pool
	e := Event{Worker: w.name, What: StaleFenced, JobID: r.job.ID, Queue: r.job.Queue}
	state := "now unknown"
	switch now, err := r.look(outcomePatience); {
	case errors.Is(err, queue.ErrNotFound):
		state = "now deleted"
	case err == nil && now.Status == queue.Processing:
		e.Owner = now.LockedBy
		state = "now owned by " + now.LockedBy
	case err == nil:
		state = "now " + string(now.Status)
	}
	e.Text = fmt.Sprintf("late %s of job %d fenced: %s", name, r.job.ID, state)
	p.mu.Lock()
	if !r.lost {
		r.lost = true
		w.lost++
	}
	w.fenced++
	p.fenced++
	p.release(r)
	p.emit(e)
	p.mu.Unlock()
}
