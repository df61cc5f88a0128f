package queue_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

func ExampleQueue_Enqueue() {
	q := open()
	defer q.Close()

	added, err := q.Enqueue(ctx,
		queue.NewJob{Queue: "emails", Kind: "welcome", Value: map[string]string{"to": "ann@example.com"}},
		queue.NewJob{Queue: "emails", Kind: "newsletter", Payload: json.RawMessage(`{"issue": 12}`), MaxAttempts: 3},
	)
	if err != nil {
		fmt.Println(err) // and neither was added
		return
	}
	for _, job := range added {
		fmt.Println("job", job.ID)
	}
	// Output:
	// job 1
	// job 2
}

// While a job with the same key waits or runs, another one is not added.
func ExampleQueue_Enqueue_idempotencyKey() {
	q := open()
	defer q.Close()

	for range 2 { // the button was pressed twice
		added, err := q.Enqueue(ctx, queue.NewJob{Queue: "invoices", IdempotencyKey: "order 7"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("job", added[0].ID, "was there already:", added[0].Existing)
	}
	// Output:
	// job 1 was there already: false
	// job 1 was there already: true
}

// A delay counts by the database's clock, a time is the same moment everywhere.
func ExampleQueue_Enqueue_scheduled() {
	q := open()
	defer q.Close()

	_, err := q.Enqueue(ctx,
		queue.NewJob{Queue: "reminders", Delay: 24 * time.Hour},
		queue.NewJob{Queue: "reminders", RunAt: queue.At(time.Date(2199, time.March, 1, 9, 0, 0, 0, time.UTC))},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, waiting, err := q.NextDue(ctx, []string{"reminders"})
	fmt.Println(in.Round(time.Hour), waiting, err)
	// Output: 24h0m0s true <nil>
}

// The user and the mail to welcome them come into being together, or neither does.
func ExampleQueue_EnqueueTx() {
	q := open()
	defer q.Close()
	if _, err := q.Pool().Exec(ctx, "CREATE TABLE users (name text UNIQUE)"); err != nil {
		fmt.Println(err)
		return
	}

	err := pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO users VALUES ('ann')"); err != nil {
			return err
		}
		_, err := q.EnqueueTx(ctx, tx, queue.NewJob{Queue: "emails", Kind: "welcome", Value: "ann"})
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Kind, string(job.Payload), job.Status)
	// Output: welcome "ann" pending
}

// Ten thousand jobs, as one transaction.
func ExampleQueue_EnqueueMany() {
	q := open()
	defer q.Close()

	jobs := make([]queue.NewJob, 10_000)
	for i := range jobs {
		jobs[i] = queue.NewJob{Queue: "emails", Kind: "newsletter", Value: i}
	}
	added, err := q.EnqueueMany(ctx, jobs)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(added), "jobs")
	// Output: 10000 jobs
}

// The jobs of a transaction that is rolled back were never there.
func ExampleQueue_EnqueueManyTx() {
	q := open()
	defer q.Close()

	tx, err := q.Pool().Begin(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	added, err := q.EnqueueManyTx(ctx, tx, []queue.NewJob{{Queue: "emails"}, {Queue: "images"}})
	fmt.Println(len(added), "jobs,", err)
	if err := tx.Rollback(ctx); err != nil {
		fmt.Println(err)
		return
	}
	jobs, _, err := q.List(ctx, queue.Filter{}, queue.Page{})
	fmt.Println(len(jobs), "jobs,", err)
	// Output:
	// 2 jobs, <nil>
	// 0 jobs, <nil>
}

// A name from a form or a file is checked before anything is done with it.
func ExampleCheckName() {
	fmt.Println(queue.CheckName("queue", "emails"))
	fmt.Println(queue.CheckName("queue", "emails "))
	// Output:
	// <nil>
	// queue "emails " begins or ends with a blank: leave it out
}
