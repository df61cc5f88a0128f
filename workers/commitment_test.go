package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// A handler that returns nil after CompleteTx says that its transaction was committed.
// When it was not, the effect is not there, and the job is tried again, not told as done.
func TestCompleteTxThatWasNotCommittedIsTriedAgain(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	for name, c := range map[string]struct {
		end     func(pgx.Tx) error // nil leaves it open
		later   func(pgx.Tx) error
		max     int
		cancel  bool
		status  queue.Status
		effects int
	}{
		"committed":              {end: commit, status: queue.Completed, effects: 1},
		"rolled back":            {end: rollback, status: queue.Pending},
		"rolled back at last":    {end: rollback, max: 1, status: queue.Failed},
		"rolled back, cancelled": {end: rollback, cancel: true, status: queue.Dead},
		"open, then committed":   {later: commit, status: queue.Completed, effects: 1},
		"open, then rolled back": {later: rollback, status: queue.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := make(chan pgx.Tx, 1)
			told := make(chan Settled, 1)
			h := NewHandlers()
			h.Queue(name, func(ctx context.Context, job *queue.Job) error {
				ctx = context.WithoutCancel(ctx)
				tx, err := q.Pool().Begin(ctx)
				if err != nil {
					return err
				}
				if err := errors.Join(l.note(ctx, tx, job), CompleteTx(ctx, tx)); err != nil {
					return errors.Join(err, tx.Rollback(ctx))
				}
				open <- tx
				if c.end == nil {
					return nil
				}
				err = c.end(tx)
				if c.cancel { // its notification is lost
					exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", job.ID)
				}
				return err
			}, WithBackoff(func(int) time.Duration { return never }))
			p := newPool(t, q, h, Options{Lease: never, Settled: func(s Settled) { told <- s }})
			found := p.signals.locked.listen()
			start(t, p)
			id := enqueue(t, q, queue.NewJob{Queue: name, MaxAttempts: c.max})[0]
			spawn(t, p, 1, name)
			tx := receive(t, "the handler", open)
			if c.later != nil {
				receive(t, "its row to be found locked", found)
				if err := c.later(tx); err != nil {
					t.Fatal(err)
				}
			}
			s := receive(t, "the outcome", told)
			job := get(t, q, id)
			if s.Status != c.status || job.Status != c.status || s.GaveBack {
				t.Errorf("told %s, gave back %v; it is %s, %q", s.Status, s.GaveBack, job.Status, job.LastError)
			}
			if n := l.effects(t, id); n != c.effects {
				t.Errorf("%d effects, want %d", n, c.effects)
			}
			want := "completed in a transaction that was not committed"
			if c.status == queue.Completed {
				want = ""
			}
			said := job.LastError
			if c.cancel {
				said = job.Errors[0].Error
			}
			if said != want || errors.Is(s.Err, ErrNotCommitted) != (want != "") {
				t.Errorf("its error is %q, told %v", said, s.Err)
			}
			if done := p.workerNamed(t, "w1").Completed == 1; done != (want == "") {
				t.Errorf("counted as completed: %v", done)
			}
			if has(p, StaleFenced) || has(p, LeaseLost) {
				t.Error("taken for a lost lease")
			}
		})
	}
}

func commit(tx pgx.Tx) error   { return tx.Commit(context.Background()) }
func rollback(tx pgx.Tx) error { return tx.Rollback(context.Background()) }

// Another may have had the job since the rollback, which is then nobody's success here.
func TestCompleteTxThatWasRolledBackIsNotToldCompletedForWhatAnotherDid(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]string{
		"reclaimed and completed": "UPDATE leasetop.jobs SET status = 'completed', locked_by = NULL, locked_at = NULL, lease_expires_at = NULL, attempts = attempts + 1",
		"redriven and completed":  "UPDATE leasetop.jobs SET status = 'completed', errors = leasetop.with_attempt(errors, attempts, locked_by, 'lost', ''), locked_by = NULL, locked_at = NULL, lease_expires_at = NULL",
		"dead and discarded":      "DELETE FROM leasetop.jobs",
	} {
		for end, err := range map[string]error{"nil": nil, "an error": errors.New("boom")} {
			t.Run(name+", then "+end, func(t *testing.T) {
				t.Parallel()
				q := openQueue(t)
				told := make(chan Settled, 1)
				p := startPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
					ctx = context.WithoutCancel(ctx)
					tx, failed := q.Pool().Begin(ctx)
					if failed != nil {
						return failed
					}
					if failed := errors.Join(CompleteTx(ctx, tx), tx.Rollback(ctx)); failed != nil {
						return failed
					}
					exec(t, q, another)
					return err
				}), Options{Lease: never, Settled: func(s Settled) { told <- s }}, 1)
				id := enqueue(t, q, queue.NewJob{})[0]
				// The outcome finds that the job is gone, or a heartbeat does so before.
				waitUntil(t, p, "the loss told", func() bool { return has(p, StaleFenced) || has(p, LeaseLost) })
				events, _ := p.Events(0)
				for _, e := range events {
					if (e.What == StaleFenced || e.What == LeaseLost) && e.JobID != id {
						t.Errorf("%s: job %d", e.What, e.JobID)
					}
				}
				if err := p.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				if s := p.workerNamed(t, "w1"); s.Completed != 0 || len(told) != 0 {
					t.Errorf("told %d times, %d counted as completed", len(told), s.Completed)
				}
			})
		}
	}
}
