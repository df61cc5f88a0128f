package queue_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// graveyard buries some jobs of a queue and returns their ids.
func graveyard(q *queue.Queue, name string, n int) (ids []int64) {
	for range n {
		ids = append(ids, buried(q, queue.NewJob{Queue: name}, "SMTP 421"))
	}
	return ids
}

// Two are tried; when they have ended, somebody looks and lets the rest go.
func ExampleQueue_StartPlan() {
	q := open()
	defer q.Close()
	plan, err := q.StartPlan(ctx, "ann@laptop", queue.NewPlan{
		IDs: graveyard(q, "emails", 6), Filter: "queue:emails error:421", Reason: "the relay is back",
		Canary: 2, Wait: true, Pace: min(200, queue.MaxPace), StopAt: new(20),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err = q.ExecutePlan(ctx, plan.ID, func(p queue.Plan) {
		if p.State == queue.PlanCanary && p.Pending == 2 { // what workers do meanwhile
			work(q, "emails", 2)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.State, "completed:", plan.Completed, "waiting:", plan.Waiting)

	if _, err = q.ResumePlan(ctx, "ann@laptop", "both went out", plan.ID); err != nil {
		fmt.Println(err)
		return
	}
	if plan, err = q.ExecutePlan(ctx, plan.ID, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.State, "redriven:", plan.Redriven, "ended:", plan.State.Ended())
	// Output:
	// held completed: 2 waiting: 4
	// done redriven: 6 ended: true
}

// work completes up to n jobs of a queue.
func work(q *queue.Queue, name string, n int) {
	jobs, err := q.Claim(ctx, queue.ClaimRequest{Queue: name, Owner: "host:1:boot/w9#1", Lease: time.Minute, Limit: n})
	if err != nil {
		panic(err)
	}
	for _, job := range jobs {
		if err := q.Complete(ctx, job.Lease()); err != nil {
			panic(err)
		}
	}
}

// A plan that went wrong is taken back, as far as no worker was quicker.
func ExampleQueue_UndoPlan() {
	q := open()
	defer q.Close()
	plan, err := q.StartPlan(ctx, "ann@laptop", queue.NewPlan{IDs: graveyard(q, "emails", 3)})
	if err == nil {
		plan, err = q.ExecutePlan(ctx, plan.ID, nil)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	work(q, "emails", 1)

	if _, err = q.UndoPlan(ctx, "ann@laptop", "the wrong ones", plan.ID); err != nil {
		fmt.Println(err)
		return
	}
	if plan, err = q.ExecutePlan(ctx, plan.ID, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.State, "undone:", plan.Undone, "of", plan.Total)
	jobs, err := q.PlanJobs(ctx, plan.ID, 0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Println(job.ID, job.State, job.Reason, job.Status, job.Failed())
	}
	// Output:
	// undone undone: 2 of 3
	// 1 redriven completed completed false
	// 2 undone  dead false
	// 3 undone  dead false
}

// Any process may stop a plan that another one executes, and is told when somebody was quicker.
func ExampleQueue_PausePlan() {
	q := open()
	defer q.Close()
	plan, err := q.StartPlan(ctx, "ann@laptop", queue.NewPlan{IDs: graveyard(q, "emails", 3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := q.PausePlan(ctx, "bob@desk", "the relay is down again", plan.ID); err != nil {
		fmt.Println(err)
	}
	if _, err := q.PausePlan(ctx, "ann@laptop", "", plan.ID); errors.Is(err, queue.ErrPlanState) {
		fmt.Println(err)
	}
	if _, err := q.CancelPlan(ctx, "ann@laptop", "next week", plan.ID); err != nil {
		fmt.Println(err)
	}
	plans, err := q.Plans(ctx, 0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range plans {
		fmt.Println(p.ID, p.State, p.StateBy, p.Why, "left:", p.Left)
	}
	// Output:
	// pause: plan 1 is paused, by bob@desk: the relay is down again
	// 1 cancelled ann@laptop next week left: 3
}

// A screen counts what has become of a plan's jobs by now, whoever executes it.
func ExampleQueue_Plan() {
	q := open()
	defer q.Close()
	plan, err := q.StartPlan(ctx, "ann@laptop", queue.NewPlan{IDs: graveyard(q, "emails", 3)})
	if err == nil {
		_, err = q.ExecutePlan(ctx, plan.ID, nil)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	work(q, "emails", 1)
	if plan, err = q.Plan(ctx, plan.ID); err != nil {
		fmt.Println(err)
		return
	}
	show := func(c queue.PlanCounts) {
		fmt.Println("completed:", c.Completed, "pending:", c.Pending, "died again:", c.DiedAgain)
	}
	show(plan.PlanCounts)

	_, err = q.Plan(ctx, 4711)
	fmt.Println(errors.Is(err, queue.ErrNotFound), err)
	// Output:
	// completed: 1 pending: 2 died again: 0
	// true there is no plan 4711
}
