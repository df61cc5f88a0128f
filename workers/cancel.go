package workers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
)

// hearCancels is told which jobs somebody may want cancelled; that it is so, and who
// wants it, is in their rows. When this process runs one, the next heartbeat is now.
func (p *Pool) hearCancels(of func(id int64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.holders {
		if of(id) {
			p.heart.urgent = true
			p.heart.look()
			return
		}
	}
}

// cancelRun asks a handler to end because somebody cancelled its job. What it
// returns decides: nil completes the job, anything else ends it as cancelled. The
// lock is held.
func (p *Pool) cancelRun(r *run, by string) {
	if p.holders[r.job.ID] != r || r.cancelledBy != "" {
		return
	}
	r.cancelledBy = by
	if r.phase == settling { // too late for the handler, and the outcome's statement knows
		return
	}
	r.stop(queue.ErrCancelled)
	p.tellCancelled(r, fmt.Sprintf("job %d cancelled by %s: its handler is asked to end", r.job.ID, by))
}

// refuse ends a run whose job was cancelled before it was claimed: as a worker
// that knows nothing of cancels gave it back.
func (r *run) refuse() error {
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	r.cancelledBy = r.job.CancelledBy
	p.tellCancelled(r, fmt.Sprintf("job %d cancelled by %s: it is not run", r.job.ID, r.cancelledBy))
	return queue.ErrCancelled
}

// tellCancelled may be called with the lock held.
func (p *Pool) tellCancelled(r *run, text string) {
	p.emit(Event{Worker: r.worker.name, What: Cancelled, JobID: r.job.ID, Queue: r.job.Queue, Text: text})
}

// cancellation ends the claim of a cancelled job whose handler did not complete it.
// The statement of a retry does, and keeps what the handler said in the history.
func (r *run) cancellation(text string) outcome {
	return outcome{
		name: "cancellation", status: queue.Dead,
		write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			return q.Retry(ctx, l, text, 0)
		},
	}
}

// hearControl acts on what the control channel says. What a newer release may say
// there is left alone.
func (p *Pool) hearControl(text string) {
	verb, object, _ := strings.Cut(text, " ")
	switch verb {
	case "cancel":
		if id, err := strconv.ParseInt(object, 10, 64); err == nil {
			p.hearCancels(func(held int64) bool { return held == id })
		}
	case "queue": // a pause that began stops claims by itself; one that ended has left work
		p.q.Forget(object)
		p.wakeOne(object, nil)
	}
}
