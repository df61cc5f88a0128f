package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

const (
	// Lease is the demonstration's lease: short, so that the recovery of a killed
	// worker's jobs is seen within seconds.
	Lease = 6 * time.Second
	// Grace is how long a worker that is drained may take to finish: longer than any
	// job of the demonstration.
	Grace = 20 * time.Second
	// Farewell is how long the workers may take to finish when the program ends;
	// what runs then is released.
	Farewell = time.Second
	// slots is how many jobs each of its workers does at once.
	slots = 2
	// enoughWaiting stops the trickle into a queue, enoughDead the making up of poison.
	enoughWaiting = 30
	enoughDead    = 12
	burst         = 200
)

// Demo is a running demonstration.
type Demo struct {
	q      *queue.Queue
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu   sync.Mutex
	calm bool            // make no more dead letters
	full map[string]bool // queues with enough waiting
}

// Start makes the demonstration's tables and, where there are no jobs yet, a heap of dead
// letters, spawns three workers in pool, whose
// handlers must be those of [Handlers], and lets jobs trickle in until Stop or
// the end of ctx. Each worker prefers another queue and takes all of them, so
// that a killed one is missed by none.
func Start(ctx context.Context, q *queue.Queue, pool *workers.Pool) (*Demo, error) {
	if err := Prepare(ctx, q); err != nil {
		return nil, err
	}
	if _, err := q.Pool().Exec(ctx, q.Schema().Query("demo_heap")); err != nil {
		return nil, fmt.Errorf("make the demonstration's dead letters: %w", err)
	}
	for _, queues := range [][]string{{emails, images, reports}, {images, emails, reports}, {reports, emails, images}} {
		if _, err := pool.Spawn(queues, slots); err != nil {
			return nil, err
		}
	}
	d := &Demo{q: q, full: map[string]bool{}}
	ctx, d.cancel = context.WithCancel(ctx)
	for _, stream := range []struct {
		every time.Duration
		queue string
		next  func(troubles) queue.NewJob
	}{
		{700 * time.Millisecond, emails, newMail},
		{1700 * time.Millisecond, images, newImage},
		{7 * time.Second, reports, newReport},
	} {
		d.tasks.Go(func() { d.trickle(ctx, stream.every, stream.queue, stream.next) })
	}
	d.tasks.Go(func() { d.keepHouse(ctx) })
	return d, nil
}

// Prepare makes the demonstration's tables where they are missing. [Start] does so
// too: it is for workers that join a demonstration, or come before it.
func Prepare(ctx context.Context, q *queue.Queue) error {
	// The simple protocol takes several statements at once.
	if _, err := q.Pool().Exec(ctx, q.Schema().Query("demo_tables"), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("make the demonstration's tables: %w", err)
	}
	return nil
}

// Stop ends the trickle. The workers are the pool's to stop.
func (d *Demo) Stop() {
	d.cancel()
	d.tasks.Wait()
}

// trickle enqueues a job about so often, and never catches up on what it missed.
// Here and in keepHouse errors are left out: while the database cannot be
// reached, the feed and the workers say so, and the next round tries again.
func (d *Demo) trickle(ctx context.Context, every time.Duration, queueName string, next func(troubles) queue.NewJob) {
	for wait(ctx, every/2+rand.N(every)) {
		d.mu.Lock()
		full, with := d.full[queueName], usualTroubles
		if d.calm {
			with = calmTroubles
		}
		d.mu.Unlock()
		if full {
			continue
		}
		_, _ = d.q.Enqueue(ctx, next(with))
	}
}

// keepHouse looks how much waits and how much is dead, and forgets what is old.
func (d *Demo) keepHouse(ctx context.Context) {
	for round := 0; ; round++ {
		d.look(ctx)
		if round%30 == 0 {
			_ = d.prune(ctx)
		}
		if !wait(ctx, 2*time.Second) {
			return
		}
	}
}

func (d *Demo) look(ctx context.Context) {
	depths, err := d.q.Depth(ctx, max(enoughWaiting, enoughDead))
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dead := int64(0)
	clear(d.full)
	for _, n := range depths.Queues {
		if slices.Contains(Queues(), n.Queue) {
			dead += n.Failed + n.Dead
			d.full[n.Queue] = n.Ready >= enoughWaiting
		}
	}
	d.calm = dead >= enoughDead
}

// Burst enqueues 200 jobs at once, mails most of them, and returns how many.
func (d *Demo) Burst(ctx context.Context) (int, error) {
	added, err := d.q.Enqueue(ctx, Jobs(burst)...)
	return len(added), err
}

// Jobs makes up so many jobs, mails most of them.
func Jobs(n int) []queue.NewJob {
	jobs := make([]queue.NewJob, 0, n)
	for len(jobs) < n {
		switch n := rand.IntN(100); {
		case n < 2:
			jobs = append(jobs, newReport(calmTroubles))
		case n < 20:
			jobs = append(jobs, newImage(calmTroubles))
		default:
			jobs = append(jobs, newMail(calmTroubles))
		}
	}
	return jobs
}

// Poison enqueues a mail that is dead as soon as it is tried, and whose cause is
// gone 15 seconds later: see the package comment.
func (d *Demo) Poison(ctx context.Context) (id int64, err error) {
	added, err := d.q.Enqueue(ctx, poison())
	if err != nil {
		return 0, err
	}
	return added[0].ID, nil
}

// wait waits, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
