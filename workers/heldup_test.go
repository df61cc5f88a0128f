package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// noteUpdates has the table note what becomes of leases, and each heartbeat, also one that
// renews nothing.
func noteUpdates(t testing.TB, q *queue.Queue) {
	t.Helper()
	exec(t, q, `CREATE TABLE noted (n serial, beat bool, was timestamptz, becomes timestamptz);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF TG_LEVEL = 'ROW' THEN
				INSERT INTO noted (beat, was, becomes) VALUES (false, old.lease_expires_at, new.lease_expires_at);
			ELSIF current_query() LIKE '%leasetop heartbeat%' THEN
				INSERT INTO noted (beat) VALUES (true);
			END IF;
			RETURN NULL; END $$;
		CREATE TRIGGER note_rows AFTER UPDATE ON leasetop.jobs FOR EACH ROW EXECUTE FUNCTION note();
		CREATE TRIGGER note_beats BEFORE UPDATE ON leasetop.jobs FOR EACH STATEMENT EXECUTE FUNCTION note()`)
}

// The network holds a heartbeat back until the worker has stopped the handler, and then
// delivers it.
func TestHeartbeatThatWasHeldUpRenewsNothing(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	near := openAt(t, url, nil)
	noteUpdates(t, near)
	net := newRelay(t, 0, 0)
	far := openAt(t, url, net.through)
	g := newGate(t)
	ends := make(chan error, 1)
	// The heartbeat leaves after 2 s, trust ends after 3.2 s, and the heart would give up its
	// connection after 4 s.
	p := startPool(t, far, on(func(ctx context.Context, job *queue.Job) error {
		if job.Attempts > 1 {
			return g.wait(ctx)
		}
		<-ctx.Done()
		ends <- context.Cause(ctx)
		return ctx.Err()
	}), Options{Lease: 6 * time.Second, Margin: 2800 * time.Millisecond}, 1)
	id := enqueue(t, near, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	net.stall()
	if cause := receive(t, "the end of trust", ends); !errors.Is(cause, ErrTrustEnded) {
		t.Fatalf("cancelled because of %v, want ErrTrustEnded", cause)
	}
	// The worker counts from when it sent the claim, the database from when it saw it.
	until(t, near, 1, "SELECT count(*) FROM leasetop.jobs WHERE id = $1 AND lease_expires_at < clock_timestamp() + interval '2.8 s'", id)
	lease := get(t, near, id).LeaseExpiresAt
	noted := count(t, near, "SELECT count(*) FROM noted")
	net.resume()
	until(t, near, 1, "SELECT count(*) FROM noted WHERE was = $1", lease)
	if n := count(t, near, "SELECT count(*) FROM noted WHERE was = $1 AND becomes IS NOT NULL", lease); n != 0 {
		t.Error("the lease was renewed after its job had been given up")
	}
	if n := count(t, near, "SELECT count(*) FROM noted WHERE beat AND n > $1 AND n < (SELECT n FROM noted WHERE was = $2)", noted, lease); n == 0 {
		t.Error("no heartbeat was held up: the test shows nothing")
	}
	waitFor(t, p, ReapedBack)
	waitBegan(t, p, 1)
	if s := p.Workers()[0]; s.Lost != 1 || has(p, LeaseLost) {
		t.Errorf("lost %d, told of a lost lease: %v; want the end of trust alone", s.Lost, has(p, LeaseLost))
	}
	g.open()
	waitStatus(t, p, id, queue.Completed)
}

// The database's clock jumps ahead: by it less than the margin is left, while the worker,
// which can be heard, trusts its lease.
func TestHeartbeatInTimeRenewsALeaseOfWhichLittleIsLeft(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{Lease: 30 * time.Minute})
	p.shortest = time.Second // heartbeats are frequent
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET lease_expires_at = now() + interval '1 minute' WHERE id = $1", id)
	until(t, q, 1, "SELECT count(*) FROM leasetop.jobs WHERE id = $1 AND lease_expires_at > now() + interval '20 minutes'", id)
	g.open()
	if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 1 {
		t.Errorf("it ran %d times", job.Attempts)
	}
}

func TestOnlyARunningHandlersHeartbeatNeedsTheMargin(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{Lease: 30 * time.Second})
	w := newWorker(p, "w1", []string{"q"}, 1)
	for _, c := range []struct {
		name    string
		phase   phase
		refused bool
		want    time.Duration
	}{
		{"to be confirmed", confirming, false, 0},
		{"running", handling, false, 4 * time.Second},
		{"running, not renewed in time", handling, true, 0},
		{"to be written", settling, false, 0},
	} {
		r := &run{worker: w, job: &queue.Job{ID: 1}, length: 30 * time.Second}
		r.grant(40*time.Second, 0, 0) // as it was claimed, not as it will be renewed
		r.phase, r.refused = c.phase, c.refused
		p.holders[1] = r
		_, renewals := p.heart.gather()
		if got := renewals[0].Left; got != c.want {
			t.Errorf("%s: %v must be left, want %v", c.name, got, c.want)
		}
		w.landed()
	}
}
