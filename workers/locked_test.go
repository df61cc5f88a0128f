package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Whatever the outcome of jobs whose rows somebody has locked, and however many they
// are, the others are claimed and come to every outcome meanwhile, and these when they
// can. The pool has as few connections as it may.
func TestLockedRowsHoldUpNoOtherJobs(t *testing.T) {
	t.Parallel()
	const locked, others = 10, 50 // more are locked than the pool has connections
	type ending struct {
		err    error
		status queue.Status
	}
	endings := map[string]ending{
		"completed": {nil, queue.Completed},
		"retried":   {errors.New("boom"), queue.Pending},
		"buried":    {queue.Permanent(errors.New("boom")), queue.Dead},
		"snoozed":   {queue.Snooze(never), queue.Pending},
	}
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			q := openAt(t, url, func(c *pgxpool.Config) { c.MaxConns = neededConns })
			ids := enqueue(t, q, many(locked, queue.NewJob{Kind: "locked"})...)
			g := newGate(t)
			p := newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
				if job.Kind != "locked" {
					return endings[job.Kind].err
				}
				if err := g.wait(ctx); err != nil {
					return err
				}
				return c.err
			}, WithBackoff(func(int) time.Duration { return never })), Options{Lease: never})
			found := p.signals.locked.listen()
			start(t, p)
			spawn(t, p, 2*locked, "q")
			waitBegan(t, p, locked)

			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "UPDATE leasetop.jobs SET payload = payload WHERE id = ANY ($1)", ids); err != nil {
				t.Fatal(err)
			}
			g.open()
			for seen := map[int64]bool{}; len(seen) < locked; {
				seen[receive(t, "all locked rows to be found so", found)] = true
			}
			for kind := range endings {
				enqueue(t, q, many(others, queue.NewJob{Kind: kind})...)
			}
			for kind, other := range endings {
				until(t, q, others, "SELECT count(*) FROM leasetop.jobs WHERE kind = $1 AND status = $2 AND (status <> 'pending' OR run_at > now())", kind, other.status)
			}
			if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE kind = 'locked' AND status = 'processing'"); n != locked {
				t.Errorf("%d of %d locked jobs are left", n, locked)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				waitStatus(t, p, id, c.status)
			}
			if has(p, StaleFenced) || has(p, LeaseLost) {
				t.Error("a locked row was taken for a lost lease")
			}
			events, _ := p.Events(0)
			for _, e := range events {
				if e.What == DBTrouble && strings.HasPrefix(e.Text, "claims ") {
					t.Errorf("claims found no connection: %s", e.Text)
				}
			}
		})
	}
}

// Heartbeats cannot renew what is locked either: trust ends, and the results of handlers
// that returned in time are not written. The stop says so.
func TestStopNamesJobsWhoseOutcomesCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"completed": nil, "retried": errors.New("boom")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := openQueue(t)
			ids := enqueue(t, q, many(2, queue.NewJob{Kind: "locked"})...)
			g := newGate(t)
			p, err := New(q, on(func(ctx context.Context, _ *queue.Job) error {
				if err := g.wait(ctx); err != nil {
					return err
				}
				return result
			}), Options{Lease: 6 * time.Second, Grace: never})
			if err != nil {
				t.Fatal(err)
			}
			p.signals.began.listen()
			found := p.signals.locked.listen()
			start(t, p)
			spawn(t, p, 2, "q")
			waitBegan(t, p, 2)
			tx, err := q.Pool().Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.Background())
			if _, err := tx.Exec(t.Context(), "SELECT FROM leasetop.jobs WHERE id = ANY ($1) FOR UPDATE", ids); err != nil {
				t.Fatal(err)
			}
			g.open()
			receive(t, "a locked row to be found so", found)
			err = p.Stop(t.Context())
			for _, id := range ids {
				if want := fmt.Sprintf("job %d (q/locked) on w1: outcome not written", id); !errors.Is(err, ErrLeft) || strings.Count(err.Error(), want) != 1 {
					t.Errorf("stop: %v; want %q", err, want)
				}
			}
			if s := p.workerNamed(t, "w1"); s.Left != 2 || s.Processed != 0 {
				t.Errorf("%d left, %d processed", s.Left, s.Processed)
			}
			if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'processing'"); n != 2 {
				t.Errorf("%d in processing", n)
			}
		})
	}
}
