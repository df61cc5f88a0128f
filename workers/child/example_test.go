package child_test

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/child"
)

var ctx = context.Background()

// open is the queue of a new database.
func open() *queue.Queue {
	q, err := queue.Open(ctx, testdb.Example(), queue.Options{MaxConns: 8})
	if err != nil {
		panic(err)
	}
	return q
}

// work adds a job to the queue mails and has it done; it returns the job as it is left.
func work(q *queue.Queue, h *workers.Handlers, payload string) *queue.Job {
	added, err := q.Enqueue(ctx, queue.NewJob{Queue: "mails", Kind: "welcome", Value: payload})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pool, err := workers.New(q, h, workers.Options{Settled: func(workers.Settled) { stop() }})
	if err == nil {
		_, err = pool.Spawn([]string{"mails"}, 1)
	}
	if err == nil {
		err = pool.Run(ctx)
	}
	if err != nil {
		panic(err)
	}
	job, err := q.Get(context.Background(), added[0].ID)
	if err != nil {
		panic(err)
	}
	return job
}

// A program gets the payload on its standard input, and what else it may want to know
// in its environment.
func ExampleHandler() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("mails", child.Handler(
		[]string{"sh", "-c", `echo "attempt $LEASETOP_ATTEMPT of job $LEASETOP_JOB_ID"; cat`},
		child.Options{Output: func(job *queue.Job, from child.Stream, line string) {
			fmt.Printf("%s (%s): %s\n", job.Kind, from, line)
		}},
	))

	job := work(q, h, "ann@example.com")
	fmt.Println(job.Status)
	// Output:
	// welcome (out): attempt 1 of job 1
	// welcome (out): "ann@example.com"
	// completed
}

// Its exit status is the outcome, and the end of its standard error the reason.
func ExampleHandler_exitStatus() {
	q := open()
	defer q.Close()
	h := workers.NewHandlers()
	h.Queue("mails", child.Handler([]string{"sh", "-c", `
		case $(cat) in
		*busy*) echo "421 try again later" >&2; exit 75;;
		*)      echo "no such mailbox" >&2; exit 65;;
		esac`}, child.Options{}))

	for _, to := range []string{"busy@example.com", "nobody@example.com"} {
		job := work(q, h, to)
		fmt.Printf("%s: %s\n", job.Status, job.LastError)
	}
	// Output:
	// pending: exit status 75: 421 try again later
	// dead: exit status 65: no such mailbox
}

// A wrong name is best found out before the first job.
func ExampleLookUp() {
	_, err := child.LookUp("sned-mail")
	fmt.Println(err)
	// Output: program "sned-mail": executable file not found in $PATH
}
