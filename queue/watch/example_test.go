package watch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

var ctx = context.Background()

// open is the queue of a new database.
func open() *queue.Queue {
	q, err := queue.Open(ctx, testdb.Example(), queue.Options{})
	if err != nil {
		panic(err)
	}
	return q
}

// enqueued adds a job.
func enqueued(q *queue.Queue, job queue.NewJob) (id int64) {
	added, err := q.Enqueue(ctx, job)
	if err != nil {
		panic(err)
	}
	return added[0].ID
}

// A program that shows the queue takes the latest State at its own pace.
func ExampleStart() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails"})
	enqueued(q, queue.NewJob{Queue: "emails", Delay: time.Hour})

	feed := watch.Start(ctx, q, watch.Options{NoWAL: true}) // no replication: it polls
	defer feed.Close()
	state := feed.State()
	for state.Depths.Source == watch.Unknown { // until the first reading
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	for _, depth := range state.Depths.Queues {
		fmt.Println(depth.Queue, depth.Ready, "ready", depth.Scheduled, "scheduled, by", state.Depths.Source)
	}
	// Output: emails 1 ready 1 scheduled, by poll
}

// After something was done, the next reading need not wait its turn.
func ExampleFeed_Refresh() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true, Poll: time.Hour})
	defer feed.Close()
	state := feed.State()
	for state.Dead.Source == watch.Unknown {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	fmt.Println(state.Dead.Total, "dead letters")

	if _, err := q.Cancel(ctx, "ann", enqueued(q, queue.NewJob{Queue: "emails"})); err != nil {
		fmt.Println(err)
		return
	}
	feed.Refresh()
	for state.Dead.Total == 0 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	for _, job := range state.Dead.Latest {
		fmt.Println("job", job.ID, "of", job.Queue, job.LastError)
	}
	// Output:
	// 0 dead letters
	// job 1 of emails cancelled by ann
}

// Trouble is no error: each connection tells whether it works and, if not, why not and
// what would cure it.
func ExampleLink() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true})
	defer feed.Close()

	state := feed.State()
	for !state.Polling.OK || !state.Notify.OK {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	fmt.Println("LISTEN works:", state.Notify.OK)
	fmt.Println("the stream works:", state.WAL.OK, "since it is", state.WAL.Reason)
	// Output:
	// LISTEN works: true
	// the stream works: false since it is switched off
}

// Trouble is also told as an event, when it begins and when it ends.
func ExampleEvent() {
	q, err := queue.Open(ctx, testdb.Example(), queue.Options{Schema: "shop_jobs"}) // which nobody made
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true})
	defer feed.Close()

	state := feed.State()
	for len(state.Events) == 0 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	event := state.Events[0]
	fmt.Println(event.What, "of", state.Server.Schema)
	fmt.Println(event.Note)
	// Output:
	// health of shop_jobs
	// poll: there is no table shop_jobs.jobs in this database: run `leasetop migrate up`, or name another --schema
}

// Who runs what; and how it went on, as far as two readings show.
func ExampleEvent_OwnerLost() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails", MaxAttempts: 1})
	_, err := q.Claim(ctx, queue.ClaimRequest{
		Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Limit: 1,
		Lease: time.Microsecond, // its worker died, as it were
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true})
	defer feed.Close()
	state := feed.State()
	for len(state.Leases.List) == 0 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	fmt.Println("job", state.Leases.List[0].JobID, "is run by", state.Leases.List[0].Owner)

	if _, err := q.Reclaim(ctx, 100); err != nil {
		fmt.Println(err)
		return
	}
	feed.Refresh()
	for len(state.Events) == 0 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	event := state.Events[0]
	fmt.Println("job", event.JobID, event.What, "since its worker was lost:", event.OwnerLost())
	// Output:
	// job 1 is run by app1:7:c0ffee/w1#1
	// job 1 buried since its worker was lost: true
}

// What State tells of the queues that are paused.
func ExamplePauses_Of() {
	pauses := watch.Pauses{Source: watch.Polled, List: []queue.Pause{{Queue: "emails", By: "ann"}}}
	for _, name := range []string{"emails", "images"} {
		pause, paused := pauses.Of(name)
		fmt.Println(name, paused, pause.By)
	}
	// Output:
	// emails true ann
	// images false
}

// Ages are told by the database's clock, wherever this machine's may stand.
func ExampleClock_Now() {
	clock := watch.Clock{Skew: -90 * time.Second, Known: true}
	here := time.Date(2199, time.March, 1, 9, 0, 0, 0, time.UTC)
	fmt.Println(clock.Now(here).Format(time.TimeOnly))
	// Output: 08:58:30
}
