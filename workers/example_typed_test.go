package workers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// receipt is the payload of the jobs.
type receipt struct {
	To    string
	Cents int64
}

// mailer sends mails.
type mailer struct{ full map[string]bool }

// send does one job. Its errors say what is to become of it.
func (m *mailer) send(ctx context.Context, job *queue.Job, r receipt) error {
	switch {
	case r.To == "":
		return queue.Permanent(errors.New("nobody to send it to"))
	case m.full[r.To]:
		return fmt.Errorf("the mailbox of %s is full", r.To)
	}
	fmt.Printf("%s: you paid %d.%02d\n", r.To, r.Cents/100, r.Cents%100)
	return nil
}

// counted is middleware that counts the errors of all handlers.
func counted(errs *int) workers.Middleware {
	return func(next workers.Handler) workers.Handler {
		return func(ctx context.Context, job *queue.Job) error {
			err := next(ctx, job)
			if err != nil {
				*errs++ // one slot, so one handler at a time
			}
			return err
		}
	}
}

// Handlers that take their payload decoded, with middleware around them: Use's around
// all, the first outermost, then those of each handler.
func ExampleTyped() {
	q := open()
	defer q.Close()
	m := &mailer{full: map[string]bool{"bob@example.com": true}}
	errs := 0

	h := workers.NewHandlers()
	h.Use(counted(&errs), workers.Logging(slog.New(slog.DiscardHandler)))
	h.Kind("receipt", workers.Typed(m.send),
		workers.WithMiddleware(workers.Timeout(time.Minute), workers.Recover()),
		workers.WithBackoff(func(attempts int) time.Duration { return time.Hour }))

	work(q, h,
		queue.NewJob{Queue: "emails", Kind: "receipt", Value: receipt{"ann@example.com", 4200}},
		queue.NewJob{Queue: "emails", Kind: "receipt", Value: receipt{"bob@example.com", 995}},
		queue.NewJob{Queue: "emails", Kind: "receipt", Payload: []byte(`{"To": "eve@example.com", "Cents": "many"}`)},
	)
	job, err := q.Get(ctx, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.LastError)
	fmt.Println(errs, "errors")
	// Output:
	// ann@example.com: you paid 42.00
	// job 1 completed
	// job 2 pending
	// job 3 dead
	// payload: field "Cents" is of type string, want int64
	// 2 errors
}
