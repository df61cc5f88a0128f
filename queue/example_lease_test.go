package queue_test

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// One statement renews all that a process holds, and tells what became of the rest.
func ExampleQueue_Heartbeat() {
	q := open()
	defer q.Close()
	mine := claimed(q, queue.NewJob{Queue: "emails"})
	gone := claimed(q, queue.NewJob{Queue: "images"})
	if _, err := q.Release(ctx, gone.Lease()); err != nil {
		fmt.Println(err)
		return
	}

	beat, err := q.Heartbeat(ctx, []queue.Renewal{
		{Lease: mine.Lease(), For: 30 * time.Second},
		{Lease: gone.Lease(), For: 30 * time.Second},
	})
	if err != nil {
		fmt.Println(err) // which leases still stand is not known
		return
	}
	for _, lease := range beat.Renewed {
		fmt.Println("renewed: job", lease.ID)
	}
	for _, lost := range beat.Lost { // stop working on it: it may be somebody else's
		fmt.Println("lost: job", lost.ID, "is now", lost.Status)
	}
	// Output:
	// renewed: job 1
	// lost: job 2 is now pending
}

// On a connection of their own, heartbeats do not wait behind other work.
func ExampleQueue_HeartbeatOn() {
	q := open()
	defer q.Close()
	job := claimed(q, queue.NewJob{Queue: "emails"})
	conn, _, err := q.Connect(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	if err := q.ProbeHeartbeat(ctx, conn); err != nil { // before anything is claimed
		fmt.Println(err)
		return
	}

	beat, err := q.HeartbeatOn(ctx, conn, []queue.Renewal{{Lease: job.Lease(), For: 30 * time.Second}})
	fmt.Println(len(beat.Renewed), "renewed,", len(beat.Contended), "locked by others just now,", err)
	// Output: 1 renewed, 0 locked by others just now, <nil>
}

// What runs right now, the lease that ends first at the top.
func ExampleQueue_Leases() {
	q := open()
	defer q.Close()
	claimed(q, queue.NewJob{Queue: "emails"})
	claimed(q, queue.NewJob{Queue: "images"})

	jobs, err := q.Leases(ctx, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Println(job.Queue, "by", job.LockedBy[:len("app1:7:c0ffee/w1")])
	}
	// Output:
	// emails by app1:7:c0ffee/w1
	// images by app1:7:c0ffee/w1
}

// What a reaper does, again and again: it gives back the jobs of workers that died.
func ExampleQueue_Reclaim() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	_, err := q.Claim(ctx, queue.ClaimRequest{
		Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Limit: 1,
		Lease: time.Microsecond, // its worker died, as it were
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	in, held, err := q.NextExpiry(ctx) // how long to wait, if at all
	fmt.Println("a lease is over:", held && in <= 0, err)
	taken, err := q.Reclaim(ctx, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range taken {
		fmt.Println("job", job.ID, "of", job.Queue, "lost by", job.Owner, "is now", job.Status)
	}
	// Output:
	// a lease is over: true <nil>
	// job 1 of emails lost by app1:7:c0ffee/w1#1 is now pending
}

// Of an expired lease whose row is locked nobody knows when it can be taken back: a
// reaper waits for the next one meanwhile.
func ExampleQueue_ExpiryToCome() {
	q := open()
	defer q.Close()
	for _, lease := range []time.Duration{time.Microsecond, time.Hour} {
		enqueued(q, queue.NewJob{Queue: "emails"})
		if _, err := q.Claim(ctx, queue.ClaimRequest{Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Limit: 1, Lease: lease}); err != nil {
			fmt.Println(err)
			return
		}
	}
	in, held, err := q.ExpiryToCome(ctx)
	fmt.Println(held, in.Round(time.Minute), err)
	// Output: true 1h0m0s <nil>
}
