package queue_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A rule that the database's owner adds forbids any change of one job. The others are
// worked on; the one is named with the server's reason, to other processes too.
func ExampleQueue_Refused() {
	q := open()
	url := q.Pool().Config().ConnString()
	claimed(q, queue.NewJob{Queue: "emails"})
	job := claimed(q, queue.NewJob{Queue: "emails"})
	if _, err := q.Pool().Exec(ctx, "ALTER TABLE leasetop.jobs ADD CONSTRAINT app_rule CHECK (id <> 2) NOT VALID"); err != nil {
		fmt.Println(err)
		return
	}

	beat, err := q.Heartbeat(ctx, []queue.Renewal{{Lease: job.Lease(), For: time.Minute}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lease := range beat.Refused { // it stands until it runs out
		fmt.Println("not renewed: job", lease.ID, lease.SQLSTATE)
	}
	err = q.Complete(ctx, job.Lease())
	fmt.Println(errors.Is(err, queue.ErrRowRefused))
	for _, refusal := range queue.Refusals(err) {
		fmt.Println("not completed: job", refusal.JobID)
	}
	skip, err := queue.Skipped(q.TakeBack(ctx, "ann", job.Lease()))
	fmt.Println("not taken back: job", skip.ID, err)
	q.Close()

	elsewhere, err := queue.Open(ctx, url, queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer elsewhere.Close()
	all, err := elsewhere.Refused(ctx, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, refused := range all {
		fmt.Println("job", refused.JobID, "of", refused.Queue+":", refused.Reason)
	}
	one, err := elsewhere.RefusedJob(ctx, job.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("last:", one.Act)
	// Output:
	// not renewed: job 2 23514
	// true
	// not completed: job 2
	// not taken back: job 2 <nil>
	// job 2 of emails: new row for relation "jobs" violates check constraint "app_rule"
	// last: complete
}
