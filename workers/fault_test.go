package workers

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestKillLeavesTheRowAsItIsUntilItsLeaseRunsOut(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t, "log_statement=all")
	q := openAt(t, testdb.On(t, server), nil)
	l := newLedger(t, q)
	// Every change of the row, and whether its lease had run out by then.
	exec(t, q, `CREATE TABLE changes (n serial, "from" text, "to" text, expired bool);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO changes ("from", "to", expired) VALUES (OLD.status, NEW.status, OLD.lease_expires_at < clock_timestamp());
			RETURN NULL; END $$;
		CREATE TRIGGER note AFTER UPDATE ON leasetop.jobs FOR EACH ROW EXECUTE FUNCTION note()`)
	causes, g := make(chan error, 1), newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		if job.Attempts == 1 {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			<-g.ch     // it takes its time
			return nil // to be dropped, not to complete the job
		}
		return l.effect(ctx, job)
	}), Options{Lease: 2 * time.Second})
	dropped := p.signals.dropped.listen()
	start(t, p)
	victim := spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	if err := p.Kill(victim); err != nil {
		t.Fatal(err)
	}
	seen := count(t, q, "SELECT count(*) FROM changes")
	logged := serverLog(t, server)
	if !strings.Contains(logged, "/"+victim+"#") {
		t.Error("the server's log does not show the worker's claim: the check below proves nothing")
	}
	spawn(t, p, 1, "q")

	if cause := receive(t, "the handler", causes); !errors.Is(cause, ErrCrashed) {
		t.Errorf("the handler was cancelled because of %v, want ErrCrashed", cause)
	}
	s := p.workerNamed(t, victim)
	if s.State != Crashed || len(s.Running) != 1 || s.Running[0].JobID != id {
		t.Errorf("the crashed worker is shown as %+v", s)
	}
	e := waitFor(t, p, ReapedBack)
	t.Logf("reclaimed %v after expiry", e.Late)
	if e.JobID != id || !strings.HasPrefix(e.Owner, s.Owner+"#") {
		t.Errorf("the reclaim is told as %+v", e)
	}
	g.open()
	receive(t, "the dropped result", dropped)
	job := waitStatus(t, p, id, queue.Completed)
	if job.Attempts != 2 || l.effects(t, id) != 1 || len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
		t.Errorf("attempts %d, %d effects, history %+v; want 2, 1 and one lost", job.Attempts, l.effects(t, id), job.Errors)
	}
	var next string
	if err := q.Pool().QueryRow(t.Context(), `SELECT format('%s to %s, expired %s', "from", "to", expired) FROM changes ORDER BY n OFFSET $1 LIMIT 1`, seen).Scan(&next); err != nil {
		t.Fatal(err)
	}
	if next != "processing to pending, expired t" {
		t.Errorf("the first change of the row after the kill: %s", next)
	}
	if after := strings.TrimPrefix(serverLog(t, server), logged); strings.Contains(after, "/"+victim+"#") {
		t.Errorf("the server's log shows a statement of the worker after it was killed:\n%s", after)
	}
	waitUntil(t, p, "the lease to leave the list", func() bool { return len(p.workerNamed(t, victim).Running) == 0 })
	if err := p.Remove(victim); err != nil {
		t.Error(err)
	}
	if len(p.Workers()) != 1 {
		t.Errorf("%d workers are left, want 1", len(p.Workers()))
	}
}

func serverLog(t *testing.T, server *local.Server) string {
	t.Helper()
	text, err := os.ReadFile(server.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A handler that ignores its context cannot complete after its worker was killed.
func TestKilledWorkersHandlerCannotComplete(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	g := newGate(t)
	inside, results := make(chan struct{}, 1), make(chan error, 1)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		inside <- struct{}{}
		<-g.ch
		results <- l.effect(context.WithoutCancel(ctx), job)
		return nil
	}), Options{Lease: time.Minute}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler", inside)
	if err := p.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	g.open()
	if err := receive(t, "the handler", results); !errors.Is(err, ErrCrashed) {
		t.Errorf("completing in a transaction: %v, want ErrCrashed", err)
	}
	if l.effects(t, id) != 0 || get(t, q, id).Status != queue.Processing {
		t.Errorf("%d effects, job %s", l.effects(t, id), get(t, q, id).Status)
	}
}

// The first worker is stopped past its lease, another claims, then the first finishes.
func TestFrozenWorkersLateOutcomeIsFenced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result error
		text   string
	}{
		"completion": {nil, "late completion"},
		"failure":    {errors.New("too late to matter"), "late retry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := openQueue(t)
			l := newLedger(t, q)
			first, second := newGate(t), newGate(t)
			p := newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
				// The effect is guarded by its key, the outcome by the fence.
				err := pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error { return l.note(ctx, tx, job) })
				if err != nil || job.Attempts > 1 {
					return errors.Join(err, second.wait(ctx))
				}
				if job.Kind == "next" {
					return nil
				}
				return errors.Join(first.wait(ctx), c.result)
			}), Options{Lease: 2 * time.Second})
			held := p.signals.held.listen()
			start(t, p)
			zombie := spawn(t, p, 1, "q")
			id := enqueue(t, q, queue.NewJob{})[0]
			waitBegan(t, p, 1)
			if err := p.Freeze(zombie); err != nil {
				t.Fatal(err)
			}
			other := spawn(t, p, 1, "q")
			first.open() // the zombie's handler finishes, its outcome must wait
			if got := receive(t, "the held outcome", held); got != id {
				t.Errorf("job %d is held, want %d", got, id)
			}
			if s := p.workerNamed(t, zombie); s.State != Frozen {
				t.Errorf("the zombie is %s", s.State)
			}
			e := waitFor(t, p, StaleFenced)
			if e.Worker != zombie || e.JobID != id || !strings.Contains(e.Text, c.text) || !strings.Contains(e.Owner, "/"+other+"#") {
				t.Errorf("the event does not say who was fenced and who owns the job: %+v", e)
			}
			job := get(t, q, id)
			if job.Status != queue.Processing || job.Attempts != 2 || !strings.Contains(job.LockedBy, "/"+other+"#") {
				t.Errorf("the late outcome left the job %s, attempts %d, owner %s", job.Status, job.Attempts, job.LockedBy)
			}
			if has(p, TrustEnded) {
				t.Error("trust was checked for a zombie")
			}
			second.open()
			job = waitStatus(t, p, id, queue.Completed)
			if n := l.effects(t, id); n != 1 || len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
				t.Errorf("%d effects, want 1; history %+v, want just the lost lease", n, job.Errors)
			}
			waitUntil(t, p, "the zombie back at work", func() bool {
				s := p.workerNamed(t, zombie)
				return s.State == Idle && s.Fenced == 1 && s.Lost == 1
			})
			for _, id := range enqueue(t, q, many(4, queue.NewJob{Kind: "next"})...) {
				waitStatus(t, p, id, queue.Completed)
			}
		})
	}
}

// With CompleteTx the zombie waits inside its transaction and rolls back.
func TestFrozenWorkersTransactionIsFenced(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	inside := make(chan struct{}, 2)
	g := newGate(t)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		inside <- struct{}{}
		if err := g.wait(ctx); err != nil {
			return err
		}
		return l.effect(ctx, job)
	}), Options{Lease: 2 * time.Second}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler", inside)
	if err := p.Freeze("w1"); err != nil {
		t.Fatal(err)
	}
	spawn(t, p, 1, "q")
	g.open()
	job := waitStatus(t, p, id, queue.Completed)
	e := waitFor(t, p, StaleFenced)
	if e.Worker != "w1" || job.Attempts != 2 || l.effects(t, id) != 1 {
		t.Errorf("fenced %q, attempts %d, %d effects; want w1, 2, 1", e.Worker, job.Attempts, l.effects(t, id))
	}
}

func TestIdleWorkerThawsAfterOneLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(nothing), Options{Lease: time.Second}, 1)
	if err := p.Freeze("w1"); err != nil {
		t.Fatal(err)
	}
	id := enqueue(t, q, queue.NewJob{})[0]
	waitFor(t, p, Froze)
	thawed := waitFor(t, p, Thawed)
	job := waitStatus(t, p, id, queue.Completed)
	if job.UpdatedAt.Before(thawed.At.Add(-time.Second)) { // one machine, one clock here
		t.Errorf("done at %v, before the thaw at %v", job.UpdatedAt, thawed.At)
	}
}

func TestKilledWhileFrozenStaysCrashed(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(nothing), Options{Lease: time.Second}, 1)
	if err := p.Freeze("w1"); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	if s := p.workerNamed(t, "w1"); s.State != Crashed {
		t.Errorf("it is %s", s.State)
	}
	for what, err := range map[string]error{"kill": p.Kill("w1"), "freeze": p.Freeze("w1"), "drain": p.Drain("w1")} {
		if err == nil || !strings.Contains(err.Error(), "crashed") {
			t.Errorf("%s of a crashed worker: %v", what, err)
		}
	}
	if err := p.Kill("w9"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("kill of nobody: %v", err)
	}
}

// The job takes down every worker that claims it.
func TestWorkerKillerIsDeadAfterItsAttempts(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	var claims atomic.Int64
	var p *Pool
	p = newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		if job.Kind != "killer" {
			return nil
		}
		claims.Add(1)
		owner, _ := queue.ParseToken(job.LockedBy)
		if err := p.Kill(owner.Worker); err != nil {
			t.Error(err)
		}
		return nil
	}), Options{Lease: time.Second})
	start(t, p)
	for range 4 {
		spawn(t, p, 1, "q")
	}
	killer := enqueue(t, q, queue.NewJob{Kind: "killer", MaxAttempts: 3})[0]
	neighbours := enqueue(t, q, many(20, queue.NewJob{})...)
	job := waitStatus(t, p, killer, queue.Dead)
	if claims.Load() != 3 || job.Attempts != 3 || !strings.Contains(job.LastError, "worker lost 3 times") {
		t.Errorf("%d claims, attempts %d, error %q", claims.Load(), job.Attempts, job.LastError)
	}
	for _, id := range neighbours {
		if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 1 {
			t.Errorf("neighbour %d took %d attempts", id, job.Attempts)
		}
	}
	waitFor(t, p, ReapedDead)
}

// The job panics: poison at once, and nobody else notices.
func TestPanickingJobHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(func(_ context.Context, job *queue.Job) error {
		if job.Kind == "killer" {
			panic("boom")
		}
		return nil
	}), Options{}, 3)
	killer := enqueue(t, q, queue.NewJob{Kind: "killer", MaxAttempts: 3})[0]
	enqueue(t, q, many(20, queue.NewJob{})...)
	waitDone(t, p)
	if job := get(t, q, killer); job.Status != queue.Dead || job.Attempts != 1 || !strings.Contains(job.LastError, "boom") {
		t.Errorf("the killer is %s after %d attempts: %.60s", job.Status, job.Attempts, job.LastError)
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed'"); n != 20 {
		t.Errorf("%d neighbours completed, want 20", n)
	}
}

func TestTimeLeftOfALeaseCanBeReadHoweverLongItIs(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		1834 * time.Millisecond:               "1.8s",
		-20 * time.Millisecond:                "0s",
		47 * time.Hour:                        "47h0m0s",
		61 * time.Hour:                        "3 days",
		100*365*24*time.Hour - 12*time.Second: "100 years",
	} {
		if got := runsOutIn(d); got != want {
			t.Errorf("%v is told as %q, want %q", d, got, want)
		}
	}
}
