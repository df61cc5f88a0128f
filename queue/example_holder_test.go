package queue_test

import (
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// A dead letter whose idempotency key a newer job has is skipped by a redrive.
func ExampleQueue_KeyHolder() {
	q := open()
	defer q.Close()
	dead := buried(q, queue.NewJob{Queue: "emails", IdempotencyKey: "order-7/receipt"}, "template missing")
	enqueued(q, queue.NewJob{Queue: "emails", IdempotencyKey: "order-7/receipt"})

	holder, err := q.KeyHolder(ctx, "emails", "order-7/receipt")
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := q.Redrive(ctx, "ann", dead)
	fmt.Println("held by", holder, "so:", done.Skipped[0].Reason, err)
	// Output: held by 2 so: idempotency key in use by #2 <nil>
}
