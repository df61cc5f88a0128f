package queue_test

import (
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// The database's owner has a rule that one job does not meet: an act on it says so, and one
// on many goes on with the others.
func ExampleSkipped() {
	q := open()
	defer q.Close()
	id := buried(q, queue.NewJob{Queue: "emails"}, "no such mailbox")
	if _, err := q.Pool().Exec(ctx, fmt.Sprintf("ALTER TABLE leasetop.jobs ADD CONSTRAINT not_this CHECK (id <> %d) NOT VALID", id)); err != nil {
		fmt.Println(err)
		return
	}

	err := q.EditPayload(ctx, "ann", queue.Edit{ID: id, Was: []byte("{}"), Payload: []byte(`{"n": 1}`)})
	var refusal *queue.Refusal
	fmt.Println(errors.As(err, &refusal), errors.Is(err, queue.ErrRowRefused))
	skip, err := queue.Skipped(err)
	fmt.Println(skip.ID, skip.Failed, skip.Reason, err)
	// Output:
	// true true
	// 1 true the server refuses it: new row for relation "jobs" violates check constraint "not_this" <nil>
}

// A row of another table refers to a job: the purge keeps that job, and deletes the others.
func ExampleKept() {
	q := open()
	defer q.Close()
	if _, err := q.Pool().Exec(ctx, `
		CREATE TABLE orders (job_id bigint REFERENCES leasetop.jobs);
		INSERT INTO leasetop.jobs (id, queue, status) VALUES (1, 'emails', 'completed'), (2, 'emails', 'completed');
		INSERT INTO orders VALUES (2)`); err != nil {
		fmt.Println(err)
		return
	}

	done, err := q.Purge(ctx, queue.Purge{What: queue.PurgeCompleted}, nil)
	fmt.Println(done.Deleted, "deleted,", done.Kept, "kept,", err)
	for _, kept := range done.First {
		fmt.Println(kept.Name, kept.Detail)
	}
	// Output:
	// 1 deleted, 1 kept, <nil>
	// 2 Key (id)=(2) is still referenced from table "orders".
}
