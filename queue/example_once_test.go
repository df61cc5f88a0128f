package queue_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// order is the payload of the jobs.
type order struct {
	ID    int64
	Email string
}

// shop keeps its orders and invoices in the queue's database.
type shop struct{ q *queue.Queue }

// buy stores an order together with the job that is to invoice it: there is never one
// without the other.
func (s shop) buy(o order) error {
	return pgx.BeginFunc(ctx, s.q.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders VALUES ($1, $2)", o.ID, o.Email); err != nil {
			return err
		}
		_, err := s.q.EnqueueTx(ctx, tx, queue.NewJob{Queue: "invoices", Value: o})
		return err
	})
}

// claim takes one job.
func (s shop) claim(owner string, lease time.Duration) (queue.Job, error) {
	jobs, err := s.q.Claim(ctx, queue.ClaimRequest{Queue: "invoices", Owner: owner, Lease: lease, Limit: 1})
	if err != nil || len(jobs) == 0 {
		return queue.Job{}, fmt.Errorf("%d jobs: %w", len(jobs), err)
	}
	return jobs[0], nil
}

// invoice does a job. The invoice, the note that there is one and the completion are
// one commit: CompleteTx undoes the invoice of a worker whose job is somebody else's by
// now, and Once keeps a second job for the same order from writing another.
func (s shop) invoice(job queue.Job) error {
	var o order
	if err := json.Unmarshal(job.Payload, &o); err != nil {
		return s.q.Bury(ctx, job.Lease(), err.Error())
	}
	return pgx.BeginFunc(ctx, s.q.Pool(), func(tx pgx.Tx) error {
		first, err := s.q.Once(ctx, tx, fmt.Sprintf("invoice of order %d", o.ID))
		if err != nil {
			return err
		}
		if first {
			if _, err := tx.Exec(ctx, "INSERT INTO invoices VALUES ($1, $2)", o.ID, o.Email); err != nil {
				return err
			}
		}
		return s.q.CompleteTx(ctx, tx, job.Lease())
	})
}

// Jobs may run twice, their effects do not: an order, its job and its invoice, whatever
// becomes of the workers in between.
func Example_effectsOnce() {
	s := shop{open()}
	defer s.q.Close()
	_, err := s.q.Pool().Exec(ctx, "CREATE TABLE orders (id bigint, email text); CREATE TABLE invoices (id bigint, email text)")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.buy(order{ID: 7, Email: "ann@example.com"}); err != nil {
		fmt.Println(err)
		return
	}

	// A worker claims the job and comes to a standstill until its lease has run out.
	slow, err := s.claim("app1:7:c0ffee/w1#1", time.Microsecond)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.q.Reclaim(ctx, 100); err != nil {
		fmt.Println(err)
		return
	}
	// Another does it instead.
	job, err := s.claim("app2:9:facade/w1#1", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the other worker:", s.invoice(job))
	fmt.Println("the slow worker: ", s.invoice(slow))

	// The same job once more, which somebody enqueued by hand.
	if _, err := s.q.Enqueue(ctx, queue.NewJob{Queue: "invoices", Payload: job.Payload}); err != nil {
		fmt.Println(err)
		return
	}
	again, err := s.claim("app2:9:facade/w1#2", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("once more:       ", s.invoice(again))

	var invoices int
	err = s.q.Pool().QueryRow(ctx, "SELECT count(*) FROM invoices").Scan(&invoices)
	fmt.Println("invoices:        ", invoices, err)
	// Output:
	// the other worker: <nil>
	// the slow worker:  complete job 1: lease lost
	// once more:        <nil>
	// invoices:         1 <nil>
}
