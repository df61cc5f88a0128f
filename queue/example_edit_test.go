package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A typo is mended and the job tried again; a second editor, who began with the same
// payload, overwrites nothing.
func ExampleQueue_EditPayload() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails", Payload: json.RawMessage(`{"to": "ann@exmaple.com"}`)}, "no such host")
	job, err := q.Get(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	edit := queue.Edit{ID: id, Was: job.Payload, Payload: json.RawMessage(`{"to": "ann@example.com"}`), Reason: "a typo", Redrive: true}
	changed, err := q.EditPayload(ctx, "ann", edit)
	fmt.Println("ann:", changed, err)
	if _, err := q.EditPayload(ctx, "bob", edit); errors.Is(err, queue.ErrEdited) {
		fmt.Println("bob:", err)
	}
	// Output:
	// ann: true <nil>
	// bob: edit job 1: it is no dead letter any more, but pending: changed meanwhile
}

// What edits replaced is kept as long as the job.
func ExampleQueue_Originals() {
	q := open()
	defer q.Close()
	id := enqueued(q, queue.NewJob{Queue: "invoices", Payload: json.RawMessage(`{"amount": 1e400}`), Delay: time.Hour})
	if _, err := q.EditPayload(ctx, "ann", queue.Edit{ID: id, Was: json.RawMessage(`{"amount": 1e400}`), Payload: json.RawMessage(`{"amount": 40.10}`)}); err != nil {
		fmt.Println(err)
		return
	}
	originals, err := q.Originals(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range originals {
		fmt.Println("replaced by", o.By, "with a number of", len(o.Payload)-len(`{"amount": }`), "digits")
	}
	// Output: replaced by ann with a number of 401 digits
}

func ExampleQueue_RunNow() {
	q := open()
	defer q.Close()
	later := enqueued(q, queue.NewJob{Queue: "reports", Delay: 24 * time.Hour})
	due := enqueued(q, queue.NewJob{Queue: "reports"})

	done, err := q.RunNow(ctx, "ann", later, due)
	fmt.Println("due now:", done.IDs, err)
	for _, skip := range done.Skipped {
		fmt.Println("skipped:", skip.ID, skip.Reason)
	}
	// Output:
	// due now: [1] <nil>
	// skipped: 2 due already
}

// The machine is known to have burnt; its lease runs for another hour.
func ExampleQueue_TakeBack() {
	q := open()
	defer q.Close()
	running := claimed(q, queue.NewJob{Queue: "reports"})

	fmt.Println(q.TakeBack(ctx, "ann", running.Lease()))
	// Should its worker be alive after all, it is fenced.
	fmt.Println(q.Complete(ctx, running.Lease()))
	// Output:
	// <nil>
	// complete job 1: lease lost
}

func ExampleQueue_WhyWaiting() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	id := enqueued(q, queue.NewJob{Queue: "emails"})
	if _, err := q.Pause(ctx, "ann", "the mail server moves", "emails"); err != nil {
		fmt.Println(err)
		return
	}

	why, err := q.WhyWaiting(ctx, id)
	if err != nil {
		fmt.Println(err) // wraps queue.ErrNotFound when it is not pending
		return
	}
	fmt.Println("due:", why.Due <= 0, "· behind", why.Ahead, "· running", why.Running)
	fmt.Println("paused by", why.Paused.By, "since", why.Paused.Why)
	// Output:
	// due: true · behind 1 · running 0
	// paused by ann since the mail server moves
}
