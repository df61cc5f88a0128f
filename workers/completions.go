package workers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leasetop/leasetop/queue"
)

// completions writes completions in batches without waiting for any: while one
// statement is on its way, what is completed meanwhile gathers for the next. So
// a lone completion goes out at once, and a busy pool writes hundreds in one
// commit. A row that somebody else has locked is passed over, so that it holds up no
// batch.
type completions struct {
	mu      sync.Mutex
	sending bool
	next    *batch
}

type batch struct {
	leases []queue.Lease
	done   chan struct{} // closed when the fields below are known
	failed map[queue.Lease]error
	err    error
}

// complete returns once the completion is written, or what [queue.Queue.Complete]
// would, or queue.ErrLocked.
func (c *completions) complete(q *queue.Queue, lease queue.Lease) error {
	c.mu.Lock()
	if c.next == nil {
		c.next = &batch{done: make(chan struct{})}
	}
	b := c.next
	b.leases = append(b.leases, lease)
	if !c.sending {
		c.sending = true
		go c.send(q)
	}
	c.mu.Unlock()

	<-b.done
	return b.outcome(lease)
}

// outcome is what became of one completion of a batch that was written.
func (b *batch) outcome(lease queue.Lease) error {
	if b.err != nil {
		return b.err
	}
	err := b.failed[lease]
	if errors.Is(err, queue.ErrRowRefused) {
		return err // it names the job
	}
	if err != nil {
		return fmt.Errorf("complete job %d: %w", lease.ID, err)
	}
	return nil
}

// send writes batches until none has gathered.
func (c *completions) send(q *queue.Queue) {
	for {
		c.mu.Lock()
		b := c.next
		c.next = nil
		c.sending = b != nil
		c.mu.Unlock()
		if b == nil {
			return
		}
		b.write(q)
		close(b.done)
	}
}

func (b *batch) write(q *queue.Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), outcomePatience)
	defer cancel()
	locked, lost, err := q.CompleteUnlocked(ctx, b.leases)
	refusals := queue.Refusals(err)
	if len(refusals) == 0 {
		b.err = err
	}
	b.failed = make(map[queue.Lease]error, len(locked)+len(lost))
	for _, lease := range locked {
		b.failed[lease] = queue.ErrLocked
	}
	for _, lease := range lost {
		b.failed[lease] = queue.ErrLeaseLost
	}
	for _, refusal := range refusals {
		for _, lease := range b.leases {
			if lease.ID == refusal.JobID && b.failed[lease] == nil {
				b.failed[lease] = refusal
			}
		}
	}
}
