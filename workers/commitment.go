package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// ErrNotCommitted is the error of a job whose handler returned nil after [CompleteTx],
// while that transaction was rolled back or is still open. The job is retried.
var ErrNotCommitted = errors.New("completed in a transaction that was not committed")

// commitment makes sure that the handler's transaction, which completed the job, was
// committed: one look by the primary key. When the job is still ours it was not, and
// what the handler did there is gone with it. When it is neither ours nor completed by
// this claim, the lease was lost.
func (r *run) commitment(once bool) outcome {
	return outcome{
		name: "completion in a transaction", batched: true, once: once, // a look needs no place
		write: func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			job, _, err := q.Preview(ctx, l.ID, 0)
			switch {
			case err != nil && !errors.Is(err, queue.ErrNotFound):
				return "", err
			case err == nil && r.completedBy(job):
				return queue.Completed, nil
			case err != nil || job.LockedBy != l.Token:
				return "", fmt.Errorf("complete job %d: %w", l.ID, queue.ErrLeaseLost)
			}
			// While the transaction is open the row is locked: the next look finds what it left.
			delay := r.delay()
			r.waits = delay
			var status queue.Status
			err = r.worker.pool.alone(ctx, r, func(ctx context.Context) (err error) {
				status, err = q.Retry(ctx, l, ErrNotCommitted.Error(), delay)
				return err
			})
			if err == nil {
				r.uncommitted()
			}
			return status, err
		},
	}
}

// completedBy tells whether it was this claim that completed the job, not one after it,
// which counts one attempt more, or anew after a redrive: then the history has how this
// one was lost. A job that is gone tells nothing: it may have been dead
// and discarded. So one that retention deletes within the moment between commit and look
// counts as lost, which takes an age of moments.
func (r *run) completedBy(job *queue.Job) bool {
	if r.worker.pool.lacks(without.Fencing) { // anybody's completion is as good as its own
		return job.Status == queue.Completed
	}
	ended := func(a queue.Attempt) bool { return a.Worker == r.lease.Token }
	return job.Status == queue.Completed && job.Attempts == r.job.Attempts && !slices.ContainsFunc(job.Errors, ended)
}

// uncommitted notes what the handler's nil was worth.
func (r *run) uncommitted() {
	p := r.worker.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	r.err = ErrNotCommitted
}
