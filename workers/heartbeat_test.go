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
	exec(t, q, `CREATE TABLE levels (statement text, level text);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO levels VALUES (current_query(), current_setting('transaction_isolation'));
			RETURN NULL; END $$;
		CREATE TRIGGER note AFTER UPDATE ON leasetop.jobs FOR EACH ROW EXECUTE FUNCTION note()`)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: time.Second})
	beats := p.signals.beat.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	enqueue(t, q, queue.NewJob{})
	if err := receive(t, "a heartbeat", beats); err != nil {
		t.Fatal(err)
	}
	if n := count(t, q, "SELECT count(*) FROM levels WHERE statement LIKE '%leasetop heartbeat%' AND level = 'read committed'"); n == 0 {
		t.Error("no heartbeat ran under read committed")
	}
	if n := count(t, q, "SELECT count(*) FROM levels WHERE level <> 'read committed'"); n != 0 {
		t.Errorf("%d writes ran under a stricter isolation", n)
	}
	g.open()
	waitDone(t, p)
}

// The server lets us in again and again while nobody can touch the table.
func TestLockedTableIsToldOnceAndNotAsAServerThatComesAndGoes(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: 10 * time.Minute})
	p.shortest = time.Second // heartbeats are frequent, and given up soon
	beats := p.signals.beat.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	tx, err := q.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "LOCK TABLE leasetop.jobs IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	for failed := 0; failed < 3; {
		if receive(t, "a heartbeat", beats) != nil {
			failed++
		}
	}
	if up, _ := p.heart.standing(); up || has(p, TrustEnded) {
		t.Errorf("heartbeats are taken to work: %v", up)
	}
	tellings := func() (fail, again int) {
		events, _ := p.Events(0)
		for _, e := range events {
			if strings.HasPrefix(e.Text, "heartbeats fail: ") {
				fail++
			}
			if e.Text == "heartbeats work again" {
				again++
			}
		}
		return fail, again
	}
	if fail, again := tellings(); fail != 1 || again != 0 {
		t.Errorf("told %d times that heartbeats fail, %d times that they work again; want 1 and 0", fail, again)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, p, "heartbeats to work again", func() bool { _, again := tellings(); return again == 1 })
	g.open()
	waitStatus(t, p, id, queue.Completed)
}
