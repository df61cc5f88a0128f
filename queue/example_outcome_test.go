package queue_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func ExampleQueue_Complete() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "emails"})

	fmt.Println(q.Complete(ctx, job.Lease()))

	// The claim has ended, so nothing of it changes the job any more.
	err := q.Complete(ctx, job.Lease())
	fmt.Println(err, errors.Is(err, queue.ErrLeaseLost))
	// Output:
	// <nil>
	// complete job 1: lease lost true
}

// A busy worker ends many claims in one commit.
func ExampleQueue_CompleteMany() {
	q := open()
	defer q.Close()
	first, second := claimed(q, queue.NewJob{Queue: "emails"}), claimed(q, queue.NewJob{Queue: "emails"})

	lost, err := q.CompleteMany(ctx, []queue.Lease{first.Lease(), second.Lease()})
	fmt.Println(len(lost), "of 2 were gone already,", err)
	// Output: 0 of 2 were gone already, <nil>
}

// A job that somebody has locked holds up none of the others.
func ExampleQueue_CompleteUnlocked() {
	q := open()
	defer q.Close()
	first, second := claimed(q, queue.NewJob{Queue: "emails"}), claimed(q, queue.NewJob{Queue: "emails"})
	tx, err := q.Pool().Begin(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", first.ID); err != nil {
		fmt.Println(err)
		return
	}

	locked, lost, err := q.CompleteUnlocked(ctx, []queue.Lease{first.Lease(), second.Lease()})
	fmt.Println(len(locked), "of 2 is for later,", len(lost), "were gone already,", err)
	// Output: 1 of 2 is for later, 0 were gone already, <nil>
}

func ExampleQueue_Retry() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "emails", MaxAttempts: 2})

	status, err := q.Retry(ctx, job.Lease(), "421 too many connections", queue.DefaultBackoff(job.Attempts))
	fmt.Println(status, err) // failed, had it been the last attempt
	// Output: pending <nil>
}

// Somebody looks at the row in a transaction that he does not end.
func ExampleHasty() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "emails"})
	tx, err := q.Pool().Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", job.ID)
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = q.Retry(queue.Hasty(ctx), job.Lease(), "421 too many connections", time.Minute)
	fmt.Println(errors.Is(err, queue.ErrLocked))

	if err := tx.Rollback(ctx); err != nil {
		fmt.Println(err)
	}
	status, err := q.Retry(queue.Hasty(ctx), job.Lease(), "421 too many connections", time.Minute)
	fmt.Println(status, err)
	// Output:
	// true
	// pending <nil>
}

// Poison is no use trying again.
func ExampleQueue_Bury() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "images"})

	if err := q.Bury(ctx, job.Lease(), "not an image"); err != nil {
		fmt.Println(err)
		return
	}
	now, err := q.Get(ctx, job.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(now.Status, "after attempt", now.Attempts, "of", now.MaxAttempts, "by", now.LastError)
	// Output: dead after attempt 1 of 5 by not an image
}

// A worker that must end gives back what it has not done: that was no attempt.
func ExampleQueue_Release() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "emails"})

	if _, err := q.Release(ctx, job.Lease()); err != nil {
		fmt.Println(err)
		return
	}
	now, err := q.Get(ctx, job.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(now.Status, "after", now.Attempts, "attempts")
	// Output: pending after 0 attempts
}

// Not yet is no error: the attempt is returned.
func ExampleQueue_Snooze() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "exports"})

	if _, err := q.Snooze(ctx, job.Lease(), 15*time.Minute); err != nil {
		fmt.Println(err)
		return
	}
	in, _, err := q.NextDue(ctx, []string{"exports"})
	fmt.Println("again in", in.Round(time.Minute), err)
	// Output: again in 15m0s <nil>
}

func ExampleDefaultBackoff() {
	for attempts := 1; attempts <= 3; attempts++ {
		fmt.Println(queue.DefaultBackoff(attempts).Truncate(time.Minute)) // up to a tenth more
	}
	fmt.Println(queue.DefaultBackoff(1000) < 71*time.Minute)
	// Output:
	// 2m0s
	// 4m0s
	// 8m0s
	// true
}

// A backoff of one's own, for package workers' WithBackoff.
func ExampleBackoff() {
	var patient queue.Backoff = func(attempts int) time.Duration {
		return time.Duration(attempts) * 20 * time.Second
	}
	fmt.Println(patient(1), patient(2), patient(3))
	// Output: 20s 40s 1m0s
}

// Code that a handler calls marks what no retry can cure, and need not know the queue.
func ExamplePermanent() {
	parse := func(payload string) error {
		return queue.Permanent(fmt.Errorf("no such template: %s", payload))
	}
	err := fmt.Errorf("send mail: %w", parse("welcome"))
	fmt.Println(err, queue.IsPermanent(err))
	fmt.Println(queue.IsPermanent(errors.New("connection reset")))
	// Output:
	// send mail: no such template: welcome true
	// false
}

func ExampleSnooze() {
	err := queue.Snooze(15 * time.Minute) // what a handler returns
	delay, ok := queue.IsSnooze(err)
	fmt.Println(err, delay, ok)
	// Output: snoozed for 15m0s 15m0s true
}
