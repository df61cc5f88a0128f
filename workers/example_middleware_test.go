package workers_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Middleware of one's own sees each job before and after its handler.
func ExampleMiddleware() {
	q := open()
	defer q.Close()
	var traced workers.Middleware = func(next workers.Handler) workers.Handler {
		return func(ctx context.Context, job *queue.Job) error {
			fmt.Println("begin", job.Kind)
			defer fmt.Println("end", job.Kind)
			return next(ctx, job)
		}
	}
	h := workers.NewHandlers()
	h.Use(traced)
	h.Kind("welcome", func(context.Context, *queue.Job) error {
		fmt.Println("a welcome")
		return nil
	})

	work(q, h, queue.NewJob{Queue: "emails", Kind: "welcome"})
	// Output:
	// begin welcome
	// a welcome
	// end welcome
	// job 1 completed
}

func ExampleLogging() {
	q := open()
	defer q.Close()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "took" { // another each time
				return slog.Attr{}
			}
			return a
		},
	}))
	h := workers.NewHandlers()
	h.Use(workers.Logging(logger))
	h.Kind("welcome", func(context.Context, *queue.Job) error { return fmt.Errorf("421 try again later") })

	work(q, h, queue.NewJob{Queue: "emails", Kind: "welcome"})
	// Output:
	// level=WARN msg="handler failed" job=1 queue=emails kind=welcome attempt=1 error="421 try again later"
	// job 1 pending
}

// A panic that another attempt may not meet. Without Recover the job would be dead.
func ExampleRecover() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error {
		panic("the cache is cold")
	}, workers.WithMiddleware(workers.Recover()))

	work(q, h, queue.NewJob{Queue: "emails"})
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	what, _, _ := strings.Cut(job.LastError, "\n") // the stack follows
	fmt.Println(what)
	// Output:
	// job 1 pending
	// panic: the cache is cold
}

// Whatever an export waits for, it does not wait for long.
func ExampleTimeout() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("exports", func(ctx context.Context, _ *queue.Job) error {
		<-ctx.Done() // of something that does not answer
		return context.Cause(ctx)
	}, workers.WithMiddleware(workers.Timeout(20*time.Millisecond)))

	work(q, h, queue.NewJob{Queue: "exports"})
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.LastError)
	// Output:
	// job 1 pending
	// handler timed out
}
