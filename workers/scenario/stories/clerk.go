package stories

import (
	"context"
	"fmt"
	"sync"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
)

// clerk enters effects in the ledger for handlers that are many at a time: what comes while
// one statement is on its way goes with the next. So a flood of jobs shows how fast the
// queue is, not the ledger.
type clerk struct {
	stage *scenario.Stage

	mu      sync.Mutex
	writing bool
	next    *page
}

// page is what goes with one statement.
type page struct {
	jobs     []int64
	attempts []int
	owners   []string
	done     chan struct{} // closed when err is known
	err      error
}

// Enter enters the effect of a job, and returns when it is in the ledger.
func (k *clerk) Enter(ctx context.Context, c *scenario.Crew, job *queue.Job) error {
	k.mu.Lock()
	if k.next == nil {
		k.next = &page{done: make(chan struct{})}
	}
	p := k.next
	p.jobs, p.attempts, p.owners = append(p.jobs, job.ID), append(p.attempts, job.Attempts), append(p.owners, job.LockedBy)
	if !k.writing {
		k.writing = true
		go k.write(c)
	}
	k.mu.Unlock()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes pages until nothing has come.
func (k *clerk) write(c *scenario.Crew) {
	for {
		k.mu.Lock()
		p := k.next
		k.next = nil
		k.writing = p != nil
		k.mu.Unlock()
		if p == nil {
			return
		}
		if _, err := c.Queue.Pool().Exec(k.stage.Context(), c.Queue.Schema().Query("scenario_effect_batch"), k.stage.RunName(), p.jobs, p.attempts, p.owners); err != nil {
			p.err = fmt.Errorf("enter effects: %w", err)
		}
		close(p.done)
	}
}
