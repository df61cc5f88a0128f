package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// One job and what happened to it.
func ExampleQueue_Get() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "images", Kind: "thumbnail"}, "not an image")

	job, err := q.Get(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Kind, "is", job.Status, "and a dead letter:", job.Status.IsDeadLetter())
	for _, attempt := range job.Errors {
		fmt.Println("attempt", attempt.Attempt, attempt.Outcome, attempt.Error)
	}

	_, err = q.Get(ctx, 4711)
	fmt.Println(err, errors.Is(err, queue.ErrNotFound))
	// Output:
	// thumbnail is dead and a dead letter: true
	// attempt 1 buried not an image
	// job 4711: no such job true
}

// The beginning of a payload that may be large, for a screen.
func ExampleQueue_Preview() {
	q := open()
	defer q.Close()
	id := enqueued(q, queue.NewJob{Queue: "emails", Payload: json.RawMessage(`{"text": "Dear Ann, thank you"}`)})

	job, length, err := q.Preview(ctx, id, 12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s… of %d characters\n", job.Payload, length)
	// Output: {"text": "De… of 31 characters
}

// What became of jobs that were listed before.
func ExampleQueue_ByID() {
	q := open()
	defer q.Close()
	waiting := enqueued(q, queue.NewJob{Queue: "emails"})
	dead := buried(q, queue.NewJob{Queue: "images"}, "not an image")

	jobs, err := q.ByID(ctx, waiting, dead, 4711)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Println("job", job.ID, job.Status)
	}
	// Output:
	// job 2 dead
	// job 1 pending
}

// Lists hold no payloads; these are read for the jobs that need them.
func ExampleQueue_Payloads() {
	q := open()
	defer q.Close()
	id := enqueued(q, queue.NewJob{Queue: "emails", Value: "ann@example.com"})

	for payload, err := range q.Payloads(ctx, 0, id, 4711) {
		fmt.Println(payload.ID, string(payload.JSON), err)
	}
	// Output: 1 "ann@example.com" <nil>
}

// Page after page, newest first; jobs that come and go meanwhile shift nothing.
func ExampleQueue_List() {
	q := open()
	defer q.Close()
	for range 3 {
		enqueued(q, queue.NewJob{Queue: "emails"})
	}

	waiting := queue.Filter{Queue: "emails", Statuses: []queue.Status{queue.Pending}}
	var after *queue.Cursor // nil for the first page
	for {
		jobs, next, err := q.List(ctx, waiting, queue.Page{Limit: 2, After: after})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, job := range jobs {
			fmt.Println("job", job.ID, job.Status)
		}
		if next == nil {
			return
		}
		after = next
	}
	// Output:
	// job 3 pending
	// job 2 pending
	// job 1 pending
}

// What is ready in one queue, in a bounded time even where hardly a job is: a scan that
// finds little says how far it looked, and the next one looks further.
func ExampleQueue_Scan() {
	q := open()
	defer q.Close()
	ready := enqueued(q, queue.NewJob{Queue: "emails"})
	enqueued(q, queue.NewJob{Queue: "emails", Delay: time.Hour})
	for range 4 {
		enqueued(q, queue.NewJob{Queue: "images"})
	}

	filter := queue.Filter{Queue: "emails", Statuses: []queue.Status{queue.Pending}, Due: queue.DueNow}
	found, err := q.Scan(ctx, filter, queue.Stretch{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Jobs[0].ID == ready, "and nothing further:", found.Next == nil)

	filter = queue.Filter{Queue: "emails"} // no index tells where these are
	for next := (queue.Stretch{Look: 3}); ; next.From = found.Next {
		if found, err = q.Scan(ctx, filter, next); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("looked at", found.Looked, "and found", len(found.Jobs))
		if found.Next == nil {
			return
		}
	}
	// Output:
	// true and nothing further: true
	// looked at 3 and found 0
	// looked at 3 and found 2
}

// The newest dead letters of all queues.
func ExampleQueue_List_deadLetters() {
	q := open()
	defer q.Close()
	buried(q, queue.NewJob{Queue: "images"}, "not an image")
	buried(q, queue.NewJob{Queue: "emails"}, "mailbox 17 is full")

	jobs, _, err := q.List(ctx, queue.Filter{Statuses: queue.DeadLetters}, queue.Page{Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Printf("%s: %q, of the sort %q\n", job.Queue, job.LastError, job.Fingerprint)
	}
	// Output:
	// emails: "mailbox 17 is full", of the sort "mailbox ‹n› is full"
	// images: "not an image", of the sort "not an image"
}

// How much there is to do. A cap keeps counts cheap where there may be millions.
func ExampleQueue_Depth() {
	q := open()
	defer q.Close()
	for range 12 {
		enqueued(q, queue.NewJob{Queue: "emails"})
	}
	claimed(q, queue.NewJob{Queue: "images"})

	depths, err := q.Depth(ctx, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, depth := range depths.Queues {
		more := ""
		if depth.AtLeast.Any() {
			more = " or more"
		}
		fmt.Printf("%s: %d ready%s, %d running\n", depth.Queue, depth.Ready, more, depth.Processing)
	}
	// Output:
	// emails: 10 ready or more, 0 running
	// images: 0 ready, 1 running
}

// Whether the server keeps a statement waiting, for a program that says so.
func ExampleQueue_Silent() {
	q, err := queue.Open(ctx, database(), queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()

	fmt.Println(q.Ping(ctx), q.Silent())
	// Output: <nil> 0s
}

// An enqueue waits for a transaction that has its key. Somebody asks who holds it up.
func ExampleQueue_Blocked() {
	q := open()
	defer q.Close()
	tx, err := q.Pool().Begin(ctx)
	if err == nil {
		_, err = q.EnqueueTx(ctx, tx, queue.NewJob{Queue: "emails", IdempotencyKey: "order 7"})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	over := make(chan error)
	go func() {
		_, err := q.Enqueue(ctx, queue.NewJob{Queue: "emails", IdempotencyKey: "order 7"})
		over <- err
	}()

	who := ""
	for who == "" {
		who = q.Blocked(ctx)
	}
	before, _, _ := strings.Cut(who, " by ")
	fmt.Println(before)
	fmt.Println(tx.Rollback(ctx), <-over)
	// Output:
	// a row or a key is locked
	// <nil> <nil>
}
