package queue_test

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func ExampleQueue_Redrive() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails"}, "template missing")

	done, err := q.Redrive(ctx, "ann", id, 4711)
	if err != nil {
		fmt.Println(err) // done says what was done before it
	}
	fmt.Println("redriven:", done.IDs)
	for _, skip := range done.Skipped {
		fmt.Println("skipped:", skip.ID, skip.Reason)
	}
	// Output:
	// redriven: [1]
	// skipped: 4711 no such job
}

func ExampleQueue_Cancel() {
	q := open()
	defer q.Close()
	waiting := enqueued(q, queue.NewJob{Queue: "exports", Delay: time.Hour})
	running := claimed(q, queue.NewJob{Queue: "reports"})

	cancelled, err := q.Cancel(ctx, "ann", waiting, running.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dead at once:", cancelled.IDs, "asked to end:", cancelled.Asked)

	// What the worker's next heartbeat finds.
	beat, err := q.Heartbeat(ctx, []queue.Renewal{{Lease: running.Lease(), For: time.Minute}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range beat.Cancelled {
		fmt.Println("job", c.ID, "cancelled by", c.By)
	}
	// Output:
	// dead at once: [1] asked to end: [2]
	// job 2 cancelled by ann
}

// While the mail server is mended, nobody takes mails; other queues go on.
func ExampleQueue_Pause() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})

	if _, err := q.Pause(ctx, "ann", "the mail server is down", "emails"); err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := q.Claim(ctx, queue.ClaimRequest{Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Lease: time.Minute, Limit: 1})
	fmt.Println(len(jobs), "claimed,", err)

	pauses, err := q.Pauses(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, pause := range pauses {
		fmt.Printf("%s paused by %s: %s\n", pause.Queue, pause.By, pause.Why)
	}
	resumed, err := q.Resume(ctx, "emails")
	fmt.Println(resumed, err)
	// Output:
	// 0 claimed, <nil>
	// emails paused by ann: the mail server is down
	// [emails] <nil>
}

// What one process is to do for all: whoever comes first.
func ExampleQueue_TakeChore() {
	q := open()
	defer q.Close()

	for range 2 { // processes
		mine, err := q.TakeChore(ctx, "send the daily report", 24*time.Hour)
		fmt.Println(mine, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// A chore that may take longer than its interval is kept meanwhile.
func ExampleQueue_KeepChore() {
	q := open()
	defer q.Close()
	const name, every = "archive the photographs", time.Hour

	mine, err := q.TakeChore(ctx, name, every)
	fmt.Println(mine, err)
	for folder := range 3 {
		// … the folder's photographs …
		if err := q.KeepChore(ctx, name, every); err != nil {
			fmt.Println("folder", folder, err)
		}
	}
	// Output: true <nil>
}
