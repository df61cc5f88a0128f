package workers_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// What cannot work is refused at once, not found out at night.
func ExampleNew() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })

	_, err := workers.New(q, h, workers.Options{Lease: 100 * time.Millisecond})
	fmt.Println(err)

	_, err = workers.New(q, h, workers.Options{
		Lease:     time.Minute,         // a dead worker is noticed after at most so long
		Grace:     20 * time.Second,    // what a stop may take
		Retention: 30 * 24 * time.Hour, // completed jobs are kept for so long
	})
	fmt.Println(err)
	// Output:
	// workers: a lease of 100ms is too short for its heartbeats: the smallest is 1s (900ms plus the margin)
	// <nil>
}

// A service manager ends the program by SIGTERM: the job that runs is finished first.
func ExamplePool_Run() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error {
		return syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
	})
	pool, err := workers.New(q, h, workers.Options{Settled: func(s workers.Settled) {
		fmt.Println("job", s.Job.ID, s.Status)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pool.Spawn([]string{"emails"}, 1); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Run(ctx))
	// Output:
	// job 1 completed
	// <nil>
}

// A program that also does other things starts its pool and stops it itself.
func ExamplePool_Start() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	done := make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error {
		close(done)
		return nil
	})
	pool, err := workers.New(q, h, workers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pool.Spawn([]string{"emails"}, 1); err != nil {
		fmt.Println(err)
		return
	}

	if err := pool.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	<-done // here the program serves its users
	fmt.Println(pool.Stop(ctx))
	// Output: <nil>
}

// A handler that does not heed its context cannot be ended. Stop gives it up after the
// grace period and names its job, whose lease runs out by itself.
func ExamplePool_Stop() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "exports", Kind: "csv"})
	began, end := make(chan struct{}), make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("exports", func(context.Context, *queue.Job) error {
		close(began)
		<-end // whatever the context says
		return nil
	})
	pool := started(q, h, workers.Options{Grace: 10 * time.Millisecond}, "exports")
	<-began

	err := pool.Stop(ctx)
	fmt.Println(errors.Is(err, workers.ErrLeft), pool.Stuck(), "stuck")
	fmt.Println(err)
	close(end)
	// Output:
	// true 1 stuck
	// stopped with jobs left, whose leases run out by themselves: job 1 (exports/csv) on w1: handler ignores its cancelled context
}

// A worker takes from the first queue for as long as there is something.
func ExamplePool_Spawn() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "later"}, queue.NewJob{Queue: "urgent"}, queue.NewJob{Queue: "urgent"})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := workers.NewHandlers()
	h.Queue("urgent", func(context.Context, *queue.Job) error {
		fmt.Println("urgent")
		return nil
	})
	h.Queue("later", func(context.Context, *queue.Job) error {
		fmt.Println("later")
		stop()
		return nil
	})
	pool, err := workers.New(q, h, workers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	name, err := pool.Spawn([]string{"urgent", "later"}, 1)
	fmt.Println(name, err)
	fmt.Println(pool.Run(ctx))
	// Output:
	// w1 <nil>
	// urgent
	// urgent
	// later
	// <nil>
}

// Two pools of one program, shown on one screen.
func ExamplePool_SpawnAs() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })
	for _, site := range []string{"north", "south"} {
		pool, err := workers.New(q, h, workers.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(pool.SpawnAs(site+"-1", []string{"emails"}, 4))
		fmt.Println(pool.SpawnAs(site+"-1", []string{"emails"}, 4))
		fmt.Println(pool.Workers()[0].Name)
	}
	// Output:
	// <nil>
	// spawn worker "north-1": another worker has that name: drain or kill it, and remove it, first
	// north-1
	// <nil>
	// spawn worker "south-1": another worker has that name: drain or kill it, and remove it, first
	// south-1
}

// When the zombie of a long lease is back at the latest.
func ExamplePool_LongestLease() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })
	h.Kind("export", func(context.Context, *queue.Job) error { return nil }, workers.WithLease(10*time.Minute))
	pool, err := workers.New(q, h, workers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.LongestLease() + workers.LateBy)
	// Output:
	// 10m1s
}
