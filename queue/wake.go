package queue

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// wakeEvery is how often one process notifies at most. Every NOTIFY makes commits of
// the whole cluster wait for each other, so what is enqueued meanwhile gathers.
const wakeEvery = 5 * time.Millisecond

// wakePatience bounds one notification; workers find by polling what it would have told.
const wakePatience = 5 * time.Second

// Wake tells the workers of these queues, in every process, that there is work.
// Enqueue, Resume, Redrive and Reclaim do that themselves; what an UPDATE by hand brings
// is otherwise found by polling.
func (q *Queue) Wake(ctx context.Context, queues ...string) error {
	if len(queues) == 0 {
		return nil
	}
	_, err := q.pool.Exec(ctx, q.schema.Query("wake"), queues)
	return q.failed("wake", err)
}

// wakes are the queues that got work and whose workers nobody has told yet.
type wakes struct {
	mu      sync.Mutex
	queues  map[string]bool
	sending chan struct{} // closed when nothing is left to send; nil while nothing is
}

// wakeSoon wakes the workers of these queues without waiting for it: the first at
// once, those that come within the next moment together.
func (q *Queue) wakeSoon(queues ...string) {
	w := &q.wakes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queues == nil {
		w.queues = map[string]bool{}
	}
	for _, name := range queues {
		w.queues[name] = true
	}
	if w.sending == nil && len(w.queues) > 0 {
		w.sending = make(chan struct{})
		go q.sendWakes()
	}
}

// sendWakes sends until nothing has gathered.
func (q *Queue) sendWakes() {
	w := &q.wakes
	for {
		w.mu.Lock()
		if len(w.queues) == 0 {
			close(w.sending)
			w.sending = nil
			w.mu.Unlock()
			return
		}
		queues := slices.Sorted(maps.Keys(w.queues))
		clear(w.queues)
		w.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), wakePatience)
		_ = q.Wake(ctx, queues...) // a failure leaves it to polling
		cancel()
		time.Sleep(wakeEvery)
	}
}

// flushWakes waits until what was enqueued has been told.
func (q *Queue) flushWakes() {
	q.wakes.mu.Lock()
	sending := q.wakes.sending
	q.wakes.mu.Unlock()
	if sending != nil {
		<-sending
	}
}
