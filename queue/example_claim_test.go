package queue_test

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

func ExampleQueue_Claim() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails", Kind: "welcome"})
	enqueued(q, queue.NewJob{Queue: "emails", Kind: "newsletter", Delay: time.Hour}) // not due yet

	jobs, err := q.Claim(ctx, queue.ClaimRequest{
		Queue: "emails",
		Owner: queue.Token{Process: queue.NewProcess(), Worker: "w1", Claim: 1}.String(),
		Lease: 30 * time.Second,
		Limit: 10, // as many as there is room for
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		fmt.Println(job.Kind, "is", job.Status, "at attempt", job.Attempts, "of", job.MaxAttempts)
	}
	// Output: welcome is processing at attempt 1 of 5
}

// How long a worker may rest that found nothing to do.
func ExampleQueue_NextDue() {
	q := open()
	defer q.Close()
	enqueued(q, queue.NewJob{Queue: "emails", Delay: 10 * time.Minute})

	for _, name := range []string{"emails", "images"} {
		in, waiting, err := q.NextDue(ctx, []string{name})
		fmt.Println(name, in.Round(time.Minute), waiting, err)
	}
	// Output:
	// emails 10m0s true <nil>
	// images 0s false <nil>
}

// A claim loop of one's own listens for new work, as those of package workers do.
func ExampleQueue_Forget() {
	q := open()
	defer q.Close()
	conn, err := pgx.ConnectConfig(ctx, q.ConnConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "LISTEN "+q.Schema().ReadyChannel()); err != nil {
		fmt.Println(err)
		return
	}

	enqueued(q, queue.NewJob{Queue: "emails"})
	woken, err := conn.WaitForNotification(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	q.Forget(woken.Payload) // the job may stand before those of the last claim
	fmt.Println("now claim from", woken.Payload)
	// Output: now claim from emails
}

// After changes that tell nobody, such as those of an UPDATE by hand.
func ExampleQueue_Wake() {
	q := open()
	defer q.Close()
	id := enqueued(q, queue.NewJob{Queue: "emails", Delay: 24 * time.Hour})

	if _, err := q.Pool().Exec(ctx, "UPDATE leasetop.jobs SET run_at = now() WHERE id = $1", id); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Wake(ctx, "emails"))
	// Output: <nil>
}

// Who holds a job, as a line for a person.
func ExampleParseToken() {
	for _, owner := range []string{"app1:4711:c0ffee/w3#52", "a worker in another language"} {
		if token, ok := queue.ParseToken(owner); ok {
			fmt.Printf("worker %s of %s, claim %d\n", token.Worker, token.Process, token.Claim)
		} else {
			fmt.Println(owner)
		}
	}
	// Output:
	// worker w3 of app1:4711:c0ffee, claim 52
	// a worker in another language
}

// Every claim statement needs an owner that was never used before.
func ExampleToken() {
	token := queue.Token{Process: "app1:4711:c0ffee", Worker: "w3"}
	for range 2 {
		token.Claim++
		fmt.Println(token.String())
	}
	// Output:
	// app1:4711:c0ffee/w3#1
	// app1:4711:c0ffee/w3#2
}
