package queue_test

import (
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue"
)

// What a redrive would do, before it is done.
func ExampleQueue_Rehearse() {
	q := open()
	defer q.Close()
	ids := []int64{
		buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "SMTP 421 rate limited"),
		buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "template missing"),
		buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "SMTP 421 rate limited"),
		enqueued(q, queue.NewJob{Queue: "emails"}),
	}

	r, err := q.Rehearse(ctx, ids)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range r.Groups {
		fmt.Println(g.Count, g.Queue, g.Kind, g.Error)
	}
	fmt.Println(r.Redriven(), "of", len(ids), "would be redriven,", r.Gone, "is no dead letter")
	// Output:
	// 2 emails send SMTP 421 rate limited
	// 1 emails send template missing
	// 3 of 4 would be redriven, 1 is no dead letter
}

// The statements of a plan, for somebody who wants to see them first.
func ExampleQueue_PlanStatements() {
	q := open()
	defer q.Close()
	for _, s := range q.PlanStatements(queue.NewPlan{IDs: []int64{17, 42}}) {
		fmt.Println(s.About, len(s.Values) > 0, strings.Contains(s.SQL, "leasetop."))
	}
	// Output:
	// fixes the set, in one transaction with the plan true true
	// redrives a batch of it, again and again, each time in a transaction of its own true true
	// counts what has become of them, to stop when too many died again true true
}
