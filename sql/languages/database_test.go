package languages

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// open gives the test a queue in a database of its own.
func open(t *testing.T) (*queue.Queue, string) {
	t.Helper()
	url := testdb.New(t)
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q, url
}

func enqueue(t *testing.T, q *queue.Queue, job queue.NewJob, do string) int64 {
	t.Helper()
	if job.Queue == "" {
		job.Queue = "emails"
	}
	job.Payload, _ = json.Marshal(map[string]string{"do": do}) // strings can be marshalled
	added, err := q.Enqueue(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return added[0].ID
}

// goWorker runs a worker of leasetop's beside the others, to the end of the test.
func goWorker(t *testing.T, url string, o workers.Options, fn workers.Handler) {
	t.Helper()
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	h := workers.NewHandlers()
	h.Queue("emails", fn)
	pool, err := workers.New(q, h, o)
	if err == nil {
		_, err = pool.Spawn([]string{"emails"}, 2)
	}
	if err == nil {
		err = pool.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// until waits for another process's writes to bring a job into a status.
func until(t *testing.T, q *queue.Queue, id int64, status queue.Status) *queue.Job {
	t.Helper()
	var job *queue.Job
	wait(t, func() bool {
		var err error
		if job, err = q.Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return job.Status == status
	}, func() string {
		return fmt.Sprintf("job %d is %s at attempt %d (%q), not %s", id, job.Status, job.Attempts, job.LastError, status)
	})
	return job
}

// settled waits for a count.
func settled(t *testing.T, conn *pgx.Conn, count string, want int) {
	t.Helper()
	n := 0
	wait(t, func() bool { n = value[int](t, conn, count); return n == want }, func() string { return fmt.Sprintf("%s: %d, not %d", count, n, want) })
}

// wait looks again and again: another process's commits send the test no signal.
func wait(t *testing.T, good func() bool, failure func() string) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); !good(); {
		select {
		case <-look.C:
		case <-late:
			t.Fatal(failure())
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func do(t *testing.T, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func value[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}
