package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Release takes running jobs back from owners that are gone, under the leases that they
// have when the command comes to them, and prints how many it took back, and which it
// skipped and why.
func Release(ctx context.Context, p Printer, q *queue.Queue, jobs Chosen) error {
	return p.act(ctx, q, "release", "released", jobs, func(ctx context.Context, ids ...int64) (done queue.Done, err error) {
		for _, id := range ids {
			skip, err := release(ctx, q, id)
			switch {
			case err != nil:
				return done, err
			case skip.Reason != "":
				skip.ID = id
				done.Skipped = append(done.Skipped, skip)
			default:
				done.IDs = append(done.IDs, id)
			}
		}
		return done, nil
	})
}

// release takes one job back, or says why not.
func release(ctx context.Context, q *queue.Queue, id int64) (queue.Skip, error) {
	job, _, err := q.Preview(ctx, id, 0)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return queue.Skip{Reason: "no such job", Failed: true}, nil
	case err != nil:
		return queue.Skip{}, err
	case job.Status != queue.Processing:
		return queue.Skip{Reason: fmt.Sprintf("not running: %s", job.Status)}, nil
	}
	err = q.TakeBack(ctx, Operator(), job.Lease())
	if errors.Is(err, queue.ErrLeaseLost) {
		return queue.Skip{Reason: "its lease ended a moment ago: look again"}, nil
	}
	return queue.Skipped(err)
}
