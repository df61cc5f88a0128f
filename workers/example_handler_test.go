package workers_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// What a handler returns is the outcome of its job.
func ExampleHandler() {
	q := open()
	defer q.Close()
	var do workers.Handler = func(_ context.Context, job *queue.Job) error {
		switch job.Kind {
		case "welcome":
			return nil
		case "receipt":
			return errors.New("421 try again later")
		case "newsletter":
			return queue.Snooze(time.Hour) // at night there is more room
		}
		return queue.Permanent(fmt.Errorf("no template for %q", job.Kind))
	}
	h := workers.NewHandlers()
	h.Queue("emails", do)

	work(q, h,
		queue.NewJob{Queue: "emails", Kind: "welcome"},
		queue.NewJob{Queue: "emails", Kind: "receipt"},
		queue.NewJob{Queue: "emails", Kind: "newsletter"},
		queue.NewJob{Queue: "emails", Kind: "postcard"},
	)
	// Output:
	// job 1 completed
	// job 2 pending
	// job 3 pending
	// job 4 dead
}

// Somebody cancels the job that runs: the handler is asked to end, and says by its
// error that it did.
func ExampleHandler_cancelled() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "exports"})
	began, causes := make(chan struct{}), make(chan error, 1)
	h := workers.NewHandlers()
	h.Queue("exports", func(ctx context.Context, _ *queue.Job) error {
		close(began)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	})
	pool := started(q, h, workers.Options{Lease: 6 * time.Second}, "exports")
	<-began

	if _, err := q.Cancel(ctx, "ann", 1); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(errors.Is(<-causes, queue.ErrCancelled))
	fmt.Println(pool.Stop(ctx))
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Status, job.LastError)
	// Output:
	// true
	// <nil>
	// dead cancelled by ann
}

// Kinds first; a queue's own handler does the rest.
func ExampleHandlers_Kind() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Kind("welcome", func(context.Context, *queue.Job) error {
		fmt.Println("a welcome")
		return nil
	})
	h.Queue("emails", func(_ context.Context, job *queue.Job) error {
		fmt.Println("some other mail:", job.Kind)
		return nil
	})

	work(q, h, queue.NewJob{Queue: "emails", Kind: "welcome"}, queue.NewJob{Queue: "emails", Kind: "receipt"})
	// Output:
	// a welcome
	// job 1 completed
	// some other mail: receipt
	// job 2 completed
}

// Mails are tried again after ten minutes, then twenty. The lease of exports is long: a
// dead worker's are noticed late.
func ExampleWithBackoff() {
	q := open()
	defer q.Close()
	later := func(attempts int) time.Duration { return time.Duration(attempts) * 10 * time.Minute }
	h := workers.NewHandlers()
	h.Kind("welcome", func(context.Context, *queue.Job) error {
		return errors.New("421 try again later")
	}, workers.WithBackoff(later))
	h.Kind("export", func(context.Context, *queue.Job) error { return nil }, workers.WithLease(10*time.Minute))

	work(q, h, queue.NewJob{Queue: "emails", Kind: "welcome"})
	in, _, err := q.NextDue(ctx, []string{"emails"})
	fmt.Println("again in", in.Round(time.Minute), err)
	// Output:
	// job 1 pending
	// again in 10m0s <nil>
}

// The effect and the completion are one commit.
func ExampleCompleteTx() {
	q := open()
	defer q.Close()
	if _, err := q.Pool().Exec(ctx, "CREATE TABLE ledger (job bigint, cents bigint)"); err != nil {
		fmt.Println(err)
		return
	}
	h := workers.NewHandlers()
	h.Kind("charge", func(ctx context.Context, job *queue.Job) error {
		return pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO ledger VALUES ($1, 4200)", job.ID); err != nil {
				return err
			}
			return workers.CompleteTx(ctx, tx)
		})
	})

	work(q, h, queue.NewJob{Queue: "payments", Kind: "charge"})
	var cents int
	err := q.Pool().QueryRow(ctx, "SELECT sum(cents) FROM ledger").Scan(&cents)
	fmt.Println(cents, err)
	// Output:
	// job 1 completed
	// 4200 <nil>
}

// A handler that is asked to end may take a moment to save what it has, for as long as
// the job is its own.
func ExampleLeaseGone() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "exports"})
	began := make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("exports", func(ctx context.Context, _ *queue.Job) error {
		close(began)
		<-ctx.Done()
		fmt.Println(context.Cause(ctx), "with", workers.TimeToReturn(ctx), "to return")
		select {
		case <-workers.LeaseGone(ctx):
			fmt.Println("too late")
		default:
			fmt.Println("saved")
		}
		return context.Cause(ctx)
	})
	pool := started(q, h, workers.Options{}, "exports")
	<-began

	now, cancel := context.WithCancel(ctx)
	cancel() // does not wait for handlers to finish
	fmt.Println(pool.Stop(now))
	// Output:
	// worker drained with 1s to return
	// saved
	// <nil>
}
