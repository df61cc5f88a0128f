package faults

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

func init() {
	Register("waiting", func(*queue.Queue) *workers.Handlers {
		opened := opens()
		h := workers.NewHandlers()
		h.Queue("q", func(ctx context.Context, job *queue.Job) error {
			fmt.Printf("began %d%s\n", job.ID, os.Getenv(childVariable)) // which is not for what handlers start
			select {
			case <-opened:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return h
	})
	Register("stubborn", func(*queue.Queue) *workers.Handlers {
		opened := opens()
		h := workers.NewHandlers()
		h.Queue("q", func(context.Context, *queue.Job) error {
			<-opened
			return nil
		})
		return h
	})
	Register("poisoned", func(*queue.Queue) *workers.Handlers {
		h := workers.NewHandlers()
		Poison(h, KillSelf)
		return h
	})
}

// opens is closed once this process, a worker process, was told by letGo to let its
// handlers go.
func opens() <-chan struct{} {
	told, opened := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		<-told
		close(opened)
	}()
	return opened
}

// letGo has the handlers of a worker process come to their end.
func letGo(t testing.TB, p *Process) {
	t.Helper()
	if err := p.signal("open", syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	ChildMain()
	code := testdb.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines were left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// patience is how long a test waits for what must come. It only ends tests that fail.
const patience = time.Minute

// openThrough opens a queue at url whose connections lead through cable, if there is one.
func openThrough(t testing.TB, url string, cable *Cable) *queue.Queue {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 4
	if cable != nil {
		cable.Through(config.ConnConfig)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func open(t testing.TB) (q *queue.Queue, url string) {
	t.Helper()
	url = testdb.New(t)
	return openThrough(t, url, nil), url
}

func configOf(t testing.TB, url string) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func enqueue(t testing.TB, q *queue.Queue, jobs ...queue.NewJob) []int64 {
	t.Helper()
	for i := range jobs {
		jobs[i].Queue = "q"
	}
	added, err := q.Enqueue(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, len(added))
	for i, a := range added {
		ids[i] = a.ID
	}
	return ids
}

func value[T any](t testing.TB, q *queue.Queue, query string, args ...any) (v T) {
	t.Helper()
	if err := q.Pool().QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func run(t testing.TB, q *queue.Queue, query string, args ...any) {
	t.Helper()
	if _, err := q.Pool().Exec(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// until waits until a query answers true.
func until(t testing.TB, q *queue.Queue, query string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(patience); !value[bool](t, q, query, args...); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", query)
		}
	}
}

func receive[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

// pending tells that nothing comes from a channel yet. It can only be wrong in the other
// direction: by not noticing.
func pending[T any](from <-chan T) bool {
	select {
	case <-from:
		return false
	default:
		return true
	}
}
