package queue_test

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// What a program of one's own does for an operator, entered like the dashboard's acts.
func ExampleQueue_Logged() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails"}, "template missing")

	act := queue.Act{By: "ann@laptop", What: "redrive", Reason: "the template is there now", IDs: []int64{id, 4711}}
	err := q.Logged(ctx, act, func(ctx context.Context) (done, skipped int, err error) {
		redriven, err := q.Redrive(ctx, act.By, act.IDs...)
		return len(redriven.IDs), len(redriven.Skipped), err
	})
	if err != nil {
		fmt.Println(err)
	}

	acts, err := q.Acts(ctx, 0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range acts {
		fmt.Printf("%s: %s of %d, done %d, skipped %d: %s\n", a.By, a.What, a.Asked, a.Done, a.Skips, a.Reason)
	}
	// Output: ann@laptop: redrive of 2, done 1, skipped 1: the template is there now
}
