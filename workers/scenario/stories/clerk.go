package stories

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
)

// clerk enters effects in the ledger for handlers that are many at a time: what comes while
// one statement is on its way goes with the next. So a flood of jobs shows how fast the
// queue is, not the ledger.
type clerk struct {
	stage *scenario.Stage
	crew  *scenario.Crew // over whose connections it writes

	mu      sync.Mutex
	writing bool
	next    *page
}

// page is what goes with one statement.
type page struct {
	jobs []*queue.Job
	done chan struct{} // closed when err is known
	err  error
}

// Enter enters the effect of a job, and returns when it is in the ledger. When ctx ends before
// it is on its way it is not entered.
func (k *clerk) Enter(ctx context.Context, job *queue.Job) error {
	k.mu.Lock()
	if k.next == nil {
		k.next = &page{done: make(chan struct{})}
	}
	p := k.next
	p.jobs = append(p.jobs, job)
	if !k.writing {
		k.writing = true
		go k.write()
	}
	k.mu.Unlock()
	select {
	case <-p.done:
	case <-ctx.Done():
		if k.withdraw(p, job) {
			return context.Cause(ctx)
		}
		<-p.done // it may be in the ledger: that must be known
	}
	return p.err
}

// withdraw takes a job off a page, as long as that is not on its way.
func (k *clerk) withdraw(p *page, job *queue.Job) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.next != p {
		return false
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(other *queue.Job) bool { return other == job })
	return true
}

// write writes pages until nothing has come.
func (k *clerk) write() {
	for {
		k.mu.Lock()
		p := k.next
		k.next = nil
		k.writing = p != nil
		k.mu.Unlock()
		if p == nil {
			return
		}
		ids, attempts, owners := make([]int64, len(p.jobs)), make([]int, len(p.jobs)), make([]string, len(p.jobs))
		for i, job := range p.jobs {
			ids[i], attempts[i], owners[i] = job.ID, job.Attempts, job.LockedBy
		}
		q := k.crew.Queue
		if _, err := q.Pool().Exec(k.stage.Context(), q.Schema().Query("scenario_effect_batch"), k.stage.RunName(), ids, attempts, owners); err != nil {
			p.err = fmt.Errorf("enter effects: %w", err)
		}
		close(p.done)
	}
}
