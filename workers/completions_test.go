package workers

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestBatchedCompletionsAreToldApart(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	enqueue(t, q, many(60, queue.NewJob{})...)
	jobs, err := q.Claim(context.Background(), queue.ClaimRequest{Queue: "q", Owner: "one", Lease: time.Minute, Limit: 60})
	if err != nil || len(jobs) != 60 {
		t.Fatal(len(jobs), err)
	}
	exec(t, q, "UPDATE leasetop.jobs SET locked_by = 'another' WHERE id % 3 = 0")
	var c completions
	results := make([]error, len(jobs))
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() { results[i] = c.complete(q, jobs[i].Lease()) })
	}
	all.Wait()
	for i, err := range results {
		if lost := jobs[i].ID%3 == 0; errors.Is(err, queue.ErrLeaseLost) != lost || (err != nil) != lost {
			t.Errorf("job %d: %v, want it lost: %v", jobs[i].ID, err, lost)
		}
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed'"); n != 40 {
		t.Errorf("%d completed, want 40", n)
	}
}

func TestFailedBatchFailsForEachOfIt(t *testing.T) {
	t.Parallel()
	q := anywhere(t, 4)
	var c completions
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := c.complete(q, queue.Lease{ID: 1, Token: "t"}); err == nil || errors.Is(err, queue.ErrLeaseLost) {
				t.Errorf("got %v, want the connection's error", err)
			}
		})
	}
	all.Wait()
}
