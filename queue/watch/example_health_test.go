package watch_test

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
)

// What may trouble the queue is found before it does, and comes with its cure.
func ExampleState_Findings() {
	q := open()
	defer q.Close()
	for _, harm := range []string{
		"DROP INDEX leasetop.jobs_ready",
		"ALTER TABLE leasetop.jobs DISABLE TRIGGER jobs_notify_ready",
	} {
		if _, err := q.Pool().Exec(ctx, harm); err != nil {
			fmt.Println(err)
			return
		}
	}
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true})
	defer feed.Close()
	state := feed.State()
	for state.Health.Read.IsZero() || !state.Polling.OK || !state.Notify.OK {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	for _, finding := range state.Findings(state.Clock.Now(time.Now())) {
		if finding.Grade >= watch.Caution {
			fmt.Println(finding.Grade.String()+":", finding.About, finding.Figure)
			fmt.Println(" ", finding.Why)
			fmt.Println(" ", finding.Cure)
		}
	}
	// Output:
	// danger: index jobs_ready missing
	//   without it each claim reads the whole table
	//   CREATE INDEX CONCURRENTLY jobs_ready ON leasetop.jobs (queue, run_at, id) WHERE (status = 'pending'::text)
	// caution: trigger jobs_notify_ready off
	//   workers find the jobs of others than this library when they look next, up to seconds later
	//   ALTER TABLE leasetop.jobs ENABLE TRIGGER jobs_notify_ready
}

// The figures behind the findings, for whoever judges by other rules.
func ExampleCheckup() {
	q := open()
	defer q.Close()
	feed := watch.Start(ctx, q, watch.Options{NoWAL: true})
	defer feed.Close()
	state := feed.State()
	for state.Health.Read.IsZero() {
		<-feed.Changed(state.Version)
		state = feed.State()
	}
	health := state.Health
	for _, part := range health.Parts {
		if part.State != watch.PartFine {
			fmt.Println(part.Kind, part.Name, "is", part.State)
		}
	}
	for _, slot := range health.Slots {
		if slot.Held > 1<<40 {
			fmt.Println(slot.Name, "holds", slot.Held, "bytes")
		}
	}
	for _, path := range health.Paths {
		if path.Role == "worker" {
			fmt.Println("the sessions of", path.Role, "look for operators in", path.Path)
		}
	}
	if health.Waiting.Sessions > 0 {
		fmt.Println("the table is waited for, behind process", health.Waiting.Behind.PID)
	}
	for _, open := range health.Open {
		if health.At.Sub(open.Began) > 24*time.Hour {
			fmt.Println("process", open.PID, "has been in a transaction since", open.Began)
		}
	}
	fmt.Println("autovacuum comes at", health.Rows.VacuumFrom, "dead rows; now there are", health.Rows.Dead)
	// Output: autovacuum comes at 5000 dead rows; now there are 0
}
