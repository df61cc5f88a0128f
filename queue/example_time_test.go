package queue_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A job that is never due waits for somebody to reschedule it.
func ExampleTime() {
	q := open()
	defer q.Close()
	id := enqueued(q, queue.NewJob{Queue: "drafts", RunAt: queue.Time{Infinity: +1}})

	job, err := q.Get(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(job.RunAt)
	fmt.Println(job.RunAt, job.RunAt.Never(), job.RunAt.Always(), string(text), err)
	// Output: infinity true false "infinity" <nil>
}

func ExampleAt() {
	fmt.Println(queue.At(time.Date(2199, time.July, 1, 9, 0, 0, 0, time.UTC)))
	// Output: 2199-07-01T09:00:00Z
}
