package workers

import (
	"context"
	"fmt"
	"sync"

	"github.com/leasetop/leasetop/queue"
)

// completions writes completions in batches without waiting for any: while one
// statement is on its way, what is completed meanwhile gathers for the next. So
// a lone completion goes out at once, and a busy pool writes hundreds in one
// commit.
type completions struct {
	mu      sync.Mutex
	sending bool
	next    *batch
}

type batch struct {
	leases []queue.Lease
	done   chan struct{} // closed when lost and err are known
	lost   map[queue.Lease]bool
	err    error
}

// complete returns once the completion is written, or what [queue.Queue.Complete] would.
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
	switch {
	case b.err != nil:
		return b.err
	case b.lost[lease]:
		return fmt.Errorf("complete job %d: %w", lease.ID, queue.ErrLeaseLost)
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
	lost, err := q.CompleteMany(ctx, b.leases)
	b.err = err
	b.lost = make(map[queue.Lease]bool, len(lost))
	for _, lease := range lost {
		b.lost[lease] = true
	}
}
