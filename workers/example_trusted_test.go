package workers_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// A machine that moves by itself must stop by itself, should this process be stopped.
func ExampleTrustedFor() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Kind("turn", func(ctx context.Context, _ *queue.Job) error {
		left, _ := workers.TrustedFor(ctx) // and again every few seconds
		fmt.Println("the wheel may turn for", left.Round(10*time.Second))
		return nil
	})
	work(q, h, queue.NewJob{Queue: "wheels", Kind: "turn"})
	// Output:
	// the wheel may turn for 30s
	// job 1 completed
}
