package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// What the examples have in common: a database of its own for each, and what went
// before the one thing that it shows.

var ctx = context.Background()

// database is a migrated database's connection string, such as
// postgres://app@db.example.com/app.
func database() string { return testdb.Example() }

// open is the queue of a new database: see ExampleOpen.
func open() *queue.Queue {
	q, err := queue.Open(ctx, database(), queue.Options{})
	if err != nil {
		panic(err)
	}
	return q
}

// enqueued adds one job: see ExampleQueue_Enqueue.
func enqueued(q *queue.Queue, job queue.NewJob) (id int64) {
	added, err := q.Enqueue(ctx, job)
	if err != nil {
		panic(err)
	}
	return added[0].ID
}

var claims uint64

// claimed adds one job and claims it: see ExampleQueue_Claim.
func claimed(q *queue.Queue, job queue.NewJob) queue.Job {
	enqueued(q, job)
	claims++
	jobs, err := q.Claim(ctx, queue.ClaimRequest{
		Queue: job.Queue, Lease: time.Minute, Limit: 1,
		Owner: queue.Token{Process: "app1:7:c0ffee", Worker: "w1", Claim: claims}.String(),
	})
	if err != nil || len(jobs) != 1 {
		panic(fmt.Sprint(len(jobs), " jobs claimed: ", err))
	}
	return jobs[0]
}

// buried makes a dead letter: see ExampleQueue_Bury.
func buried(q *queue.Queue, job queue.NewJob, text string) (id int64) {
	dead := claimed(q, job)
	if err := q.Bury(ctx, dead.Lease(), text); err != nil {
		panic(err)
	}
	return dead.ID
}
