package workers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// untilCancelled waits for the end of its context and tells the cause.
func untilCancelled(causes chan<- error) Handler {
	return func(ctx context.Context, _ *queue.Job) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}
}

func TestLostLeaseCancelsTheHandlerAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := startPool(t, q, on(untilCancelled(causes)), Options{Lease: 3 * time.Second}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET locked_by = 'somebody else', lease_expires_at = now() + interval '1 hour' WHERE id = $1", id)
	before := row(t, q, id)
	if cause := receive(t, "the cancelled handler", causes); !errors.Is(cause, queue.ErrLeaseLost) {
		t.Errorf("cancelled because of %v, want ErrLeaseLost", cause)
	}
	waitUntil(t, p, "the free slot", func() bool { return p.Workers()[0].State == Idle })
	if after := row(t, q, id); after != before {
		t.Errorf("the other owner's row was changed:\n%s\n%s", before, after)
	}
	e := waitFor(t, p, LeaseLost)
	if e.JobID != id || e.Owner != "somebody else" || !strings.Contains(e.Text, "somebody else") {
		t.Errorf("event %+v does not say who has the job", e)
	}
	if s := p.Workers()[0]; s.Lost != 1 || s.Processed != 0 {
		t.Errorf("lost %d, processed %d, want 1 and 0", s.Lost, s.Processed)
	}
}

// A row that another transaction holds locked is neither renewed nor lost, and
// does not hold up the heartbeat of the rest.
func TestContendedLeaseKeepsItsDeadlineAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: 6 * time.Second})
	beats := p.signals.beat.listen()
	start(t, p)
	spawn(t, p, 2, "q")
	ids := enqueue(t, q, many(2, queue.NewJob{})...)
	waitBegan(t, p, 2)

	tx, err := q.Pool().Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(context.Background(), "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", ids[0]); err != nil {
		t.Fatal(err)
	}
	before := trusts(p)
	receive(t, "a heartbeat", beats)
	waitUntil(t, p, "the other lease to be renewed", func() bool { // a beat may have been on its way before the lock
		if trusts(p)[ids[1]] > before[ids[1]] {
			return true
		}
		receive(t, "a heartbeat", beats)
		p.journal.touch()
		return false
	})
	if got := trusts(p)[ids[0]]; got != before[ids[0]] {
		t.Errorf("the locked lease is trusted until %v, before %v", got, before[ids[0]])
	}
	if has(p, LeaseLost) {
		t.Error("the locked lease was taken for lost")
	}
	tx.Rollback(context.Background())
	g.open()
	waitDone(t, p)
}

// trusts are the trust deadlines of all running jobs.
func trusts(p *Pool) map[int64]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[int64]time.Duration{}
	for _, r := range p.allRuns() {
		out[r.job.ID] = r.trust
	}
	return out
}

// A job that comes back to the process that lost it is not renewed for the first claim.
func TestFreshClaimInTheSameProcessEndsTheLostOne(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 2)
	g := newGate(t)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		if job.Attempts > 1 {
			return nil
		}
		err := g.wait(ctx)
		causes <- err
		return err
	}), Options{Lease: time.Hour}, 2)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	// Another process reclaims it; no heartbeat of this one is due for minutes.
	exec(t, q, "UPDATE leasetop.jobs SET status = 'pending', locked_by = NULL, lease_expires_at = NULL, locked_at = NULL WHERE id = $1", id)
	if err := q.Wake(context.Background(), "q"); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, "the first handler", causes); !errors.Is(cause, queue.ErrLeaseLost) {
		t.Errorf("the first handler ended with %v, want ErrLeaseLost", cause)
	}
	if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 2 {
		t.Errorf("attempts %d, want 2", job.Attempts)
	}
}

// Under a stricter default of the role, heartbeats would now and then fail with 40001.
func TestHeartbeatsAreReadCommittedWhateverTheRolesDefault(t *testing.T) {
	t.Parallel()
	q := openAt(t, testdb.New(t), func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	})
	p := newPool(t, q, on(nothing), Options{})
	if err := p.heart.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.heart.disconnect()
	var level string
	if err := p.heart.conn.QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&level); err != nil || level != "read committed" {
		t.Errorf("isolation %q, %v", level, err)
	}
}
