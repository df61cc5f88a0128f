package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// begin starts a demonstration in a hurry, with leases as short as they may be.
func begin(t *testing.T) (*queue.Queue, *workers.Pool, *Demo) {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := workers.New(q, handlers(&company{q, 0.05, faults.NewDependency(1)}), workers.Options{Lease: time.Second, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := Start(t.Context(), q, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Stop()
		if err := pool.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		q.Close()
	})
	return q, pool, d
}

// eventually waits until done says so, looking again whenever a worker's state changes.
func eventually(t *testing.T, pool *workers.Pool, what string, done func() bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		changed := pool.Changed()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Second):
		case <-timeout:
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}

func status(t *testing.T, q *queue.Queue, id int64) queue.Status {
	t.Helper()
	job, err := q.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job.Status
}

// Crashes and zombies in mid-work: no effect is lost, none happens twice.
func TestNothingIsLostOrDoubledWhenWorkersDie(t *testing.T) {
	t.Parallel()
	q, pool, d := begin(t)
	if n, err := d.Burst(t.Context()); err != nil || n != burst {
		t.Fatalf("burst of %d, %v", n, err)
	}
	busy := func(name string) bool {
		for _, w := range pool.Workers() {
			if w.Name == name {
				return len(w.Running) > 0
			}
		}
		return false
	}
	eventually(t, pool, "w1 is busy", func() bool { return busy("w1") })
	if err := pool.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, pool, "w2 is busy", func() bool { return busy("w2") })
	if err := pool.Freeze("w2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, pool, "the burst and what was reclaimed is done", func() bool {
		depths, err := q.Depth(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		completed, open := int64(0), int64(0)
		for _, n := range depths.Queues {
			completed, open = completed+n.Completed, open+n.Ready+n.Processing
		}
		return completed >= burst*9/10 && open < 5
	})
	ledger, err := d.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ledger.Effects < burst*9/10 || ledger.Doubled != 0 || ledger.Lost != 0 {
		t.Errorf("ledger is %+v, want many effects, none doubled, none lost", ledger)
	}
}

func TestPoisonIsDeadAtOnceAndCuredOnceItsTemplateIsThere(t *testing.T) {
	t.Parallel()
	q, pool, d := begin(t)
	id, err := d.Poison(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, pool, "the poison is dead", func() bool { return status(t, q, id) == queue.Dead })
	job, err := q.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if job.Attempts != 1 || !strings.Contains(job.LastError, "it is deployed in 15 s, redrive then") {
		t.Errorf("dead at attempt %d with %q", job.Attempts, job.LastError)
	}

	redrive := func() {
		if done, err := q.Redrive(t.Context(), "test", id); err != nil || len(done.IDs) != 1 {
			t.Fatalf("redrive: %+v, %v", done, err)
		}
	}
	redrive() // too early
	eventually(t, pool, "it is dead again", func() bool { return status(t, q, id) == queue.Dead })

	if _, err := q.Pool().Exec(t.Context(), "UPDATE leasetop.demo_templates SET deployed_at = now()"); err != nil {
		t.Fatal(err)
	}
	redrive()
	eventually(t, pool, "it completes", func() bool { return status(t, q, id) == queue.Completed })
	if job, err = q.Get(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	outcomes := ""
	for _, a := range job.Errors {
		outcomes += a.Outcome + " "
	}
	if outcomes != "buried redriven buried redriven " {
		t.Errorf("history is %q", outcomes)
	}
}

// The heap is of five problems, can be worked on, and comes once.
func TestDemonstrationBeginsWithAHeapOfDeadLetters(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for range 2 {
		if _, err := q.Pool().Exec(t.Context(), q.Schema().Query("demo_heap")); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := q.Matching(t.Context(), queue.Filter{Statuses: queue.DeadLetters}, nil)
	if err != nil || len(ids) < 100 {
		t.Fatalf("%d dead letters, %v", len(ids), err)
	}
	found, err := q.Rehearse(t.Context(), ids)
	if err != nil || len(found.Groups) != 5 || found.Groups[0].Kind != "send_winback" {
		t.Fatalf("%+v, %v", found.Groups, err)
	}
	for _, g := range found.Groups {
		job, err := q.Get(t.Context(), g.Sample)
		if err != nil || kinds[job.Kind] == nil || len(job.Errors) != job.Attempts || job.Errors[job.Attempts-1].Error != job.LastError {
			t.Errorf("%+v, %v", job, err)
		}
		c := &company{q, 0, faults.NewDependency(1)}
		if err := Prepare(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		job.Attempts = 1
		if err := kinds[job.Kind](c, t.Context(), job); err == nil {
			t.Errorf("the cause of %q is gone at the first try", job.LastError)
		}
	}
}

func TestOldJobsAreForgottenAndDeadLettersKept(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	d := &Demo{q: q}
	if err := Prepare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Pool().Exec(t.Context(), `
		INSERT INTO leasetop.jobs (id, queue, kind, status, updated_at) VALUES
			(1001, 'emails', 'send_receipt', 'completed', now() - interval '1 h'),
			(1002, 'emails', 'send_receipt', 'completed', now()),
			(1003, 'emails', 'send_receipt', 'dead', now() - interval '1 h'),
			(1004, 'emails', 'somebody_elses', 'completed', now() - interval '1 h')`); err != nil {
		t.Fatal(err)
	}
	c := &company{q: q}
	for _, id := range []int64{1001, 1002} {
		if err := c.did(t.Context(), &queue.Job{ID: id}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Get(t.Context(), 1001); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("the old job is still there: %v", err)
	}
	for _, id := range []int64{1002, 1003, 1004} {
		if _, err := q.Get(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if l, err := d.Ledger(t.Context()); err != nil || l != (Ledger{Effects: 1}) {
		t.Errorf("ledger is %+v, %v: want the effect of the job that was kept", l, err)
	}
}

// The ledger has no unique constraint, so it would show what the protocol prevents.
func TestLedgerShowsLostAndDoubledEffects(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := Prepare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Pool().Exec(t.Context(), `
		INSERT INTO leasetop.jobs (id, queue, kind, status) VALUES (1, 'emails', 'send_receipt', 'completed'), (2, 'images', 'resize', 'completed')`); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Pool().Exec(t.Context(), `
		INSERT INTO leasetop.demo_ledger (job_id, effect, attempt, owner) VALUES (1, 'x', 1, 'a'), (1, 'x', 2, 'b')`); err != nil {
		t.Fatal(err)
	}
	if l, err := ReadLedger(t.Context(), q); err != nil || l != (Ledger{Effects: 2, Doubled: 1, Lost: 1}) {
		t.Errorf("ledger is %+v, %v", l, err)
	}
}

func TestTrickleStopsWhileEnoughWaits(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	jobs := make([]queue.NewJob, enoughWaiting)
	for i := range jobs {
		jobs[i] = queue.NewJob{Queue: emails}
	}
	if _, err := q.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Pool().Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO leasetop.jobs (queue, status) SELECT 'images', 'dead' FROM generate_series(1, %d)", enoughDead)); err != nil {
		t.Fatal(err)
	}
	d := &Demo{q: q, full: map[string]bool{}}
	d.look(t.Context())
	if !d.full[emails] || d.full[images] || !d.calm {
		t.Errorf("full %v, calm %v: want emails full, and no more poison made up", d.full, d.calm)
	}
}

// Every payload that is made up is one that its handler reads.
func TestMadeUpJobsHaveHandlers(t *testing.T) {
	t.Parallel()
	for range 500 {
		for _, job := range []queue.NewJob{newMail(usualTroubles), newImage(usualTroubles), newReport(usualTroubles), poison()} {
			if kinds[job.Kind] == nil {
				t.Fatalf("nobody does a %q", job.Kind)
			}
		}
	}
}
