package queue_test

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Figures for monitoring, without counting all there is.
func ExampleQueue_Vitals() {
	q := open()
	defer q.Close()
	buried(q, queue.NewJob{Queue: "images"}, "not an image")
	enqueued(q, queue.NewJob{Queue: "emails"})

	v, err := q.Vitals(ctx, queue.VitalsOf{Window: time.Hour, Late: 5 * time.Second, Cap: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Dead, "dead,", v.Died, "of them within", v.Window)
	fmt.Println("the oldest ready job is of", v.OldestQueue)
	fmt.Println(v.Expired, "leases ran out and nobody takes them back")
	// Output:
	// 1 dead, 1 of them within 1h0m0s
	// the oldest ready job is of emails
	// 0 leases ran out and nobody takes them back
}
