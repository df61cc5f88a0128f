package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) {
	code := testdb.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func open(t testing.TB, url string) *queue.Queue {
	t.Helper()
	q, err := queue.Open(context.Background(), url, queue.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// start watches q until the test's end.
func start(t testing.TB, q *queue.Queue, o Options) *Feed {
	t.Helper()
	f := Start(context.Background(), q, o)
	t.Cleanup(f.Close)
	return f
}

// await waits until the State is as wanted, and returns it.
func await(t testing.TB, f *Feed, what string, ok func(*State) bool) *State {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		s := f.State()
		if ok(s) {
			return s
		}
		select {
		case <-f.Changed(s.Version):
		case <-timeout:
			s.Depths.Queues = nil
			text, _ := json.MarshalIndent(s, "", " ")
			t.Fatalf("no State with %s; the last is %s", what, text)
		}
	}
}

func attached(s *State) bool { return s.WAL.OK && s.Notify.OK && s.Polling.OK }

// story is what happened since a State, without health: "claimed emails attempt 1 of 5".
func story(since, s *State) []string {
	var lines []string
	var last uint64
	if n := len(since.Events); n > 0 {
		last = since.Events[n-1].Seq
	}
	for _, e := range s.Events {
		if e.Seq > last && e.What != Health {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.What, e.Queue, e.Note)))
		}
	}
	return lines
}

// healthOf is the notes of health events.
func healthOf(s *State) (notes []string) {
	for _, e := range s.Events {
		if e.What == Health {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

func enqueue(t testing.TB, q *queue.Queue, job queue.NewJob) int64 {
	t.Helper()
	if job.Queue == "" {
		job.Queue = "emails"
	}
	done, err := q.Enqueue(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

var claims atomic.Uint64

func claim(t testing.TB, q *queue.Queue, lease time.Duration) queue.Job {
	t.Helper()
	jobs, err := q.Claim(t.Context(), queue.ClaimRequest{
		Queue: "emails", Lease: lease, Limit: 1,
		Owner: queue.Token{Process: "host:1:test", Worker: "w1", Claim: claims.Add(1)}.String(),
	})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %d jobs, error %v", len(jobs), err)
	}
	return jobs[0]
}

// given is the error of a claim given back.
func given(_ queue.Status, err error) error { return err }

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client is somebody else's connection, like psql's.
func client(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func number(t testing.TB, conn *pgx.Conn, sql string, args ...any) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
