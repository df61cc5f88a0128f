package workers_test

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// A program that does the jobs of one queue, ten at once, until it is told to stop.
func Example() {
	q, err := queue.Open(ctx, database(), queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails", Kind: "welcome", Value: "ann@example.com"})
	ctx, stop := context.WithCancel(ctx) // or a signal: see Pool.Run
	defer stop()

	h := workers.NewHandlers()
	h.Kind("welcome", func(ctx context.Context, job *queue.Job) error {
		fmt.Println("a mail to", string(job.Payload))
		stop()
		return nil
	})
	pool, err := workers.New(q, h, workers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pool.Spawn([]string{"emails"}, 10); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Run(ctx))
	// Output:
	// a mail to "ann@example.com"
	// <nil>
}
