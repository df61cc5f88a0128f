package workers_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// What the examples have in common: a database of its own for each, and what went
// before the one thing that it shows.

var ctx = context.Background()

// database is a migrated database's connection string, such as
// postgres://app@db.example.com/app.
func database() string { return testdb.Example() }

// open is the queue of a new database.
func open() *queue.Queue {
	q, err := queue.Open(ctx, database(), queue.Options{MaxConns: 8})
	if err != nil {
		panic(err)
	}
	return q
}

// enqueued adds jobs.
func enqueued(q *queue.Queue, jobs ...queue.NewJob) []queue.Enqueued {
	added, err := q.Enqueue(ctx, jobs...)
	if err != nil {
		panic(err)
	}
	return added
}

// work adds jobs and has one worker do them, one after the other. It prints how each
// ended and returns when all have: see ExamplePool_Run.
func work(q *queue.Queue, h *workers.Handlers, jobs ...queue.NewJob) {
	var names []string
	for _, job := range jobs {
		if !slices.Contains(names, job.Queue) {
			names = append(names, job.Queue)
		}
	}
	enqueued(q, jobs...)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ended atomic.Int64
	pool, err := workers.New(q, h, workers.Options{Settled: func(s workers.Settled) {
		fmt.Println("job", s.Job.ID, s.Status)
		if ended.Add(1) == int64(len(jobs)) {
			stop()
		}
	}})
	if err == nil {
		_, err = pool.Spawn(names, 1)
	}
	if err == nil {
		err = pool.Run(ctx)
	}
	if err != nil {
		panic(err)
	}
}

// started is a pool at work, with one worker that has one slot.
func started(q *queue.Queue, h *workers.Handlers, o workers.Options, queues ...string) *workers.Pool {
	pool, err := workers.New(q, h, o)
	if err == nil {
		_, err = pool.Spawn(queues, 1)
	}
	if err == nil {
		err = pool.Start(ctx)
	}
	if err != nil {
		panic(err)
	}
	return pool
}
