package queue_test

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// The life of one job, without a runtime: package workers does all of it but the first
// step.
func Example() {
	q := open()
	defer q.Close()

	if _, err := q.Enqueue(ctx, queue.NewJob{Queue: "emails", Value: "ann@example.com"}); err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := q.Claim(ctx, queue.ClaimRequest{
		Queue: "emails",
		Owner: queue.Token{Process: queue.NewProcess(), Worker: "w1", Claim: 1}.String(),
		Lease: 30 * time.Second,
		Limit: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Println("a mail to", string(job.Payload))
		if err := q.Complete(ctx, job.Lease()); err != nil {
			fmt.Println(err)
		}
	}
	// Output: a mail to "ann@example.com"
}
