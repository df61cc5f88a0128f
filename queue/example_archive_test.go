package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A dead letter that nobody will mend leaves the list, and can come back.
func ExampleQueue_Discard() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails"}, "no such mailbox")

	done, err := q.Discard(ctx, "ann", "the customer left", id)
	fmt.Println("discarded:", done.IDs, err)
	done, err = q.Restore(ctx, "bob", id)
	fmt.Println("restored:", done.IDs, err)

	job, err := q.Get(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Status, job.LastError)
	// Output:
	// discarded: [1] <nil>
	// restored: [1] <nil>
	// dead no such mailbox
}

// What one act discarded is brought back, and nothing else.
func ExampleQueue_ArchivedByAct() {
	q := open()
	defer q.Close()
	first, second := buried(q, queue.NewJob{Queue: "emails"}, "no such mailbox"), buried(q, queue.NewJob{Queue: "emails"}, "no such mailbox")
	if _, err := q.Discard(ctx, "bob", "", first); err != nil {
		fmt.Println(err)
		return
	}
	var entry int64
	err := q.Logged(ctx, queue.Act{By: "ann", What: "discard", IDs: []int64{second}}, func(ctx context.Context) (done, skipped int, err error) {
		entry = queue.EntryOf(ctx)
		discarded, err := q.Discard(ctx, "ann", "", second)
		return len(discarded.IDs), len(discarded.Skipped), err
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ids, err := q.ArchivedByAct(ctx, entry)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := q.Restore(ctx, "ann", ids...)
	fmt.Println("restored:", back.IDs, err)
	// Output: restored: [2] <nil>
}

// A page of the archive, and how to ask for the next.
func ExampleQueue_Archive() {
	q := open()
	defer q.Close()
	for range 3 {
		id := buried(q, queue.NewJob{Queue: "emails"}, "no such mailbox")
		if _, err := q.Discard(ctx, "ann", "the customer left", id); err != nil {
			fmt.Println(err)
			return
		}
	}

	var before int64 // 0 for the first page
	for {
		jobs, err := q.Archive(ctx, "emails", before, 2)
		if err != nil || len(jobs) == 0 {
			fmt.Println("end,", err)
			return
		}
		for _, job := range jobs {
			fmt.Println(job.ID, "discarded by", job.ArchivedBy, "since", job.ArchivedWhy)
			before = job.ID
		}
	}
	// Output:
	// 3 discarded by ann since the customer left
	// 2 discarded by ann since the customer left
	// 1 discarded by ann since the customer left
	// end, <nil>
}

// One discarded job, whole; a screen shows only the beginning of its payload.
func ExampleQueue_GetArchived() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails", Value: "ann@example.com"}, "no such mailbox")
	if _, err := q.Discard(ctx, "ann", "", id); err != nil {
		fmt.Println(err)
		return
	}

	job, err := q.GetArchived(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Status, string(job.Payload))
	job, length, err := q.PreviewArchived(ctx, id, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s… of %d characters\n", job.Payload, length)
	// Output:
	// dead "ann@example.com"
	// "ann@… of 17 characters
}

// All that were discarded, for an export.
func ExampleQueue_ArchivedPayloads() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails", Value: "ann@example.com"}, "no such mailbox")
	if _, err := q.Discard(ctx, "ann", "", id); err != nil {
		fmt.Println(err)
		return
	}

	ids, err := q.ArchivedIDs(ctx, "emails")
	if err != nil {
		fmt.Println(err)
		return
	}
	for payload, err := range q.ArchivedPayloads(ctx, 0, ids...) {
		fmt.Println(payload.ID, string(payload.JSON), err)
	}
	// Output: 1 "ann@example.com" <nil>
}

// What completed more than a month ago is of no use any more. Package workers does
// this by itself when its options name a retention.
func ExampleQueue_Purge() {
	q := open()
	defer q.Close()
	for range 3 {
		job := claimed(q, queue.NewJob{Queue: "emails"})
		if err := q.Complete(ctx, job.Lease()); err != nil {
			fmt.Println(err)
			return
		}
	}

	month := queue.Purge{What: queue.PurgeCompleted, OlderThan: 30 * 24 * time.Hour}
	done, err := q.Purge(ctx, month, nil)
	fmt.Println(done.Deleted, "older than a month,", err)

	done, err = q.Purge(ctx, queue.Purge{What: queue.PurgeCompleted, Queue: "emails"}, nil)
	fmt.Println(done.Deleted, "however old,", err)
	for _, kept := range done.First { // somebody has it locked, or the server refuses
		fmt.Println(kept.Name, "stays:", kept.Reason)
	}
	// Output:
	// 0 older than a month, <nil>
	// 3 however old, <nil>
}
