package queue_test

import (
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Before a program breaks something to show what happens, it asks whether it may. Whoever
// writes the mark into the connection string means it, too.
func ExampleQueue_Demonstration() {
	// The first is on a server that is marked as a whole.
	for _, more := range []string{"", "&leasetop.demonstration=off"} {
		q, err := queue.Open(ctx, database()+more, queue.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer q.Close()
		ok, why, err := q.Demonstration(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ok, "and there is a reason:", why != "")
	}
	// Output:
	// true and there is a reason: false
	// false and there is a reason: true
}
