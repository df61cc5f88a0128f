package queue_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
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

// An infinite time where none belongs is read as a time that no row has, and is infinite again when printed.
func ExampleTime_Instant() {
	instant := queue.Time{Infinity: +1}.Instant()
	fmt.Println(instant.Year(), queue.At(instant))
	// Output: 9999 infinity
}

// What a row holds can always be printed as JSON.
func ExamplePlan_MarshalJSON() {
	never := queue.Time{Infinity: +1}.Instant()
	plan, err := queue.Plan{Pace: math.NaN(), CreatedAt: never}.MarshalJSON()
	fmt.Println(strings.Contains(string(plan), `"pace":null,"created_at":"infinity"`), err)
	job, err := queue.PlanJob{At: &never}.MarshalJSON()
	fmt.Println(string(job), err)
	act, err := queue.Act{At: never}.MarshalJSON()
	fmt.Println(strings.Contains(string(act), `"at":"infinity"`), err)
	// Output:
	// true <nil>
	// {"id":0,"state":"","reason":"","status":"","at":"infinity"} <nil>
	// true <nil>
}
