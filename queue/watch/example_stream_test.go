package watch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// streaming waits until the counts come from the write-ahead log.
func streaming(feed *watch.Feed) *watch.State {
	state := feed.State()
	for state.Depths.Source != watch.FromWAL {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	return state
}

// With the stream, counts are exact without a query that counts; and that they are can
// be proved at any time.
func ExampleFeed_Reconcile() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{})
	defer feed.Close()
	state := streaming(feed)

	for range 3 {
		enqueued(q, queue.NewJob{Queue: "emails"})
	}
	for len(state.Depths.Queues) == 0 || state.Depths.Queues[0].Ready < 3 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	var rate watch.Rate = state.Depths.Queues[0].Rate
	fmt.Println("jobs come in:", rate.In > 0)

	var drift watch.Drift
	drift, err := feed.Reconcile(ctx)
	fmt.Println(drift.Off, "figures off, of", drift.Jobs, "jobs,", err)

	var health watch.Checkup = feed.State().Health // has it too, from its next version on
	fmt.Println("why it could not be read:", health.Reason)
	// Output:
	// jobs come in: true
	// 0 figures off, of 3 jobs, <nil>
	// why it could not be read:
}

// A follower that takes every event reads on from the last number it has seen.
func ExampleFeed_Events() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{})
	defer feed.Close()
	streaming(feed)

	enqueued(q, queue.NewJob{Queue: "emails", Kind: "send"})
	if _, err := q.Claim(ctx, queue.ClaimRequest{Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Limit: 1, Lease: time.Minute}); err != nil {
		fmt.Println(err)
		return
	}
	for seen, seq := 0, uint64(0); seen < 2; {
		version := feed.State().Version
		events, missed := feed.Events(seq)
		for _, event := range events {
			seq = event.Seq
			if event.What != watch.Health {
				seen++
				fmt.Println("job", event.JobID, event.What, event.Note, event.Routine(), missed)
			}
		}
		if seen < 2 {
			<-feed.Changed(version)
		}
	}
	// Output:
	// job 1 enqueued  true 0
	// job 1 claimed attempt 1 of 5 true 0
}

// What goes on in all queues together, as far back as the stream tells.
func ExampleTraffic() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{})
	defer feed.Close()
	streaming(feed)

	enqueued(q, queue.NewJob{Queue: "emails", MaxAttempts: 1})
	if _, err := q.Claim(ctx, queue.ClaimRequest{Queue: "emails", Owner: "app1:7:c0ffee/w1#1", Limit: 1, Lease: time.Microsecond}); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := q.Reclaim(context.Background(), 100); err != nil {
		fmt.Println(err)
		return
	}
	state := feed.State()
	for state.Traffic.Expired == 0 {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	var traffic watch.Traffic = state.Traffic
	var pickup watch.Latency = traffic.Pickup
	fmt.Println(traffic.Expired, "lease expired,", pickup.Count, "job was picked up,", traffic.DeadPerMinute, "died a minute")
	// Output: 1 lease expired, 1 job was picked up, 1 died a minute
}
