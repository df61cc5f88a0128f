package workers_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// What each worker does right now.
func ExamplePool_Workers() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails", Kind: "welcome"})
	began, end := make(chan struct{}), make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error {
		close(began)
		<-end
		return nil
	})
	pool := started(q, h, workers.Options{}, "emails")
	<-began

	for _, w := range pool.Workers() {
		fmt.Println(w.Name, "is", w.State, "with", len(w.Running), "of", w.Slots)
		for _, r := range w.Running {
			fmt.Println("job", r.JobID, r.Kind, "at attempt", r.Attempt)
		}
	}
	close(end)
	fmt.Println(pool.Stop(ctx))
	// Output:
	// w1 is busy with 1 of 1
	// job 1 welcome at attempt 1
	// <nil>
}

// One worker is taken out of service; nothing is missed between a look and the wait.
func ExamplePool_Drain() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })
	pool := started(q, h, workers.Options{}, "emails")

	if err := pool.Drain("w1"); err != nil {
		fmt.Println(err)
		return
	}
	for {
		changed := pool.Changed()
		if pool.Workers()[0].State == workers.Stopped {
			break
		}
		<-changed
	}
	fmt.Println(pool.Remove("w1"), len(pool.Workers()))
	fmt.Println(pool.Stop(ctx))
	// Output:
	// <nil> 0
	// <nil>
}

// The last things that happened, and how to ask for what came after.
func ExamplePool_Events() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })
	pool := started(q, h, workers.Options{}, "emails")

	events, last := pool.Events(0)
	fmt.Println(events[0].Worker, events[0].What, events[0].Text)

	if err := pool.Stop(ctx); err != nil {
		fmt.Println(err)
		return
	}
	events, _ = pool.Events(last)
	for _, e := range events {
		if e.What == workers.WorkerEnded {
			fmt.Println(e.Worker, e.What, e.Text)
		}
	}
	// Output:
	// w1 spawned 1 slot on emails
	// w1 stopped 0 jobs processed
}

// How long claims take, as the workers see it.
func ExamplePool_ClaimLatency() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	done := make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error {
		close(done)
		return nil
	})
	pool := started(q, h, workers.Options{}, "emails")
	<-done

	latency := pool.ClaimLatency()
	fmt.Println(latency.Count > 0, latency.P50 > 0, latency.P50 <= latency.P99)
	fmt.Println(pool.Stop(ctx))
	// Output:
	// true true true
	// <nil>
}

// A job that was ended behind its worker's back: what the worker writes afterwards
// matches no row.
func ExamplePool_Fenced() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	h := workers.NewHandlers()
	h.Queue("emails", func(ctx context.Context, job *queue.Job) error {
		return q.Bury(ctx, job.Lease(), "not wanted any more")
	})
	pool := started(q, h, workers.Options{}, "emails")

	for {
		changed := pool.Changed()
		if pool.Fenced() > 0 {
			break
		}
		<-changed
	}
	if err := pool.Stop(ctx); err != nil {
		fmt.Println(err)
		return
	}
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Fenced(), "write fenced, the job is", job.Status)
	// Output: 1 write fenced, the job is dead
}

// To see what a crash does: the handler's goroutine ends, and the row stays as it is
// until its lease has run out.
func ExamplePool_Kill() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	began, causes := make(chan struct{}), make(chan error, 1)
	h := workers.NewHandlers()
	h.Queue("emails", func(ctx context.Context, _ *queue.Job) error {
		close(began)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil // nobody hears of it
	})
	pool := started(q, h, workers.Options{}, "emails")
	<-began

	if err := pool.Kill("w1"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Workers()[0].State, "handler:", <-causes)
	fmt.Println(pool.Stop(ctx))
	job, err := q.Get(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Status)
	// Output:
	// crashed handler: worker crashed
	// <nil>
	// processing
}

// To see what a zombie does: it comes back when its leases have run out, or when the
// pool is stopped.
func ExamplePool_Freeze() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("emails", func(context.Context, *queue.Job) error { return nil })
	pool := started(q, h, workers.Options{}, "emails")

	if err := pool.Freeze("w1"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Workers()[0].State)
	fmt.Println(pool.Stop(ctx))
	// Output:
	// frozen
	// <nil>
}

// How late leases were taken back at worst, and how often nobody could look: give Note what
// Options.Events is told.
func ExampleRecovery() {
	var recovery workers.Recovery
	for _, event := range []workers.Event{
		{What: workers.ReapedBack, Late: 14 * time.Millisecond, Watched: true},
		{What: workers.ReapedDead, Late: 21 * time.Millisecond, Watched: true},
		{What: workers.ReapedBack, Late: 40 * time.Second}, // the database was away
	} {
		recovery.Note(event)
	}
	fmt.Println("worst of", recovery.Judged, "is", recovery.Worst, "of", workers.RecoveryBound)
	fmt.Println(recovery.Unwatched, "unwatched")
	// Output:
	// worst of 2 is 21ms of 250ms
	// 1 unwatched
}

// Who of the sessions in pg_stat_activity hears of new work.
func ExampleListenerName() {
	fmt.Println(workers.ListenerName("shop"))
	// Output:
	// shop listen
}
