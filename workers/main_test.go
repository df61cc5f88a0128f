package workers

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
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

// never is a poll interval that no test lives to see.
const never = time.Hour

// openQueue gives the test a queue on a database of its own.
func openQueue(t testing.TB) *queue.Queue {
	t.Helper()
	return openAt(t, testdb.New(t), nil)
}

// openAt opens a queue at url, whose connections change may alter.
func openAt(t testing.TB, url string, change func(*pgxpool.Config)) *queue.Queue {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// newPool makes a pool that is stopped at the test's end.
func newPool(t testing.TB, q *queue.Queue, h *Handlers, o Options) *Pool {
	t.Helper()
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	p, err := New(q, h, o)
	if err != nil {
		t.Fatal(err)
	}
	p.signals.began.listen()
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil && !t.Failed() {
			t.Errorf("stop: %v", err)
		}
		if t.Failed() {
			events, _ := p.Events(0)
			for _, e := range events {
				t.Logf("%s %-3s %s: job %d %s", e.At.Format("05.000"), e.Worker, e.What, e.JobID, e.Text)
			}
		}
	})
	return p
}

// startPool is newPool, started, with workers of one slot on the queue "q".
func startPool(t testing.TB, q *queue.Queue, h *Handlers, o Options, workers int) *Pool {
	t.Helper()
	p := newPool(t, q, h, o)
	start(t, p)
	for range workers {
		spawn(t, p, 1, "q")
	}
	return p
}

func start(t testing.TB, p *Pool) {
	t.Helper()
	if err := p.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func spawn(t testing.TB, p *Pool, slots int, queues ...string) string {
	t.Helper()
	name, err := p.Spawn(queues, slots)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// on registers one handler for the queue "q".
func on(fn Handler, opts ...HandlerOption) *Handlers {
	h := NewHandlers()
	h.Queue("q", fn, opts...)
	return h
}

// enqueue adds jobs to the queue "q", or to the one they name, and returns their ids.
func enqueue(t testing.TB, q *queue.Queue, jobs ...queue.NewJob) []int64 {
	t.Helper()
	for i := range jobs {
		if jobs[i].Queue == "" {
			jobs[i].Queue = "q"
		}
	}
	added, err := q.Enqueue(context.Background(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, len(added))
	for i, a := range added {
		ids[i] = a.ID
	}
	return ids
}

// many is n jobs alike.
func many(n int, job queue.NewJob) []queue.NewJob {
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = job
	}
	return jobs
}

func get(t testing.TB, q *queue.Queue, id int64) *queue.Job {
	t.Helper()
	job, err := q.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// row is everything that the table holds of a job.
func row(t testing.TB, q *queue.Queue, id int64) string {
	t.Helper()
	var text string
	if err := q.Pool().QueryRow(context.Background(), "SELECT jobs::text || xmin::text FROM leasetop.jobs WHERE id = $1", id).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func exec(t testing.TB, q *queue.Queue, statement string, args ...any) {
	t.Helper()
	if _, err := q.Pool().Exec(context.Background(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, q *queue.Queue, query string, args ...any) (n int) {
	t.Helper()
	if err := q.Pool().QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// until asks again and again for what nothing announces.
func until(t testing.TB, q *queue.Queue, want int, query string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(patience); count(t, q, query, args...) != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %d: %s", want, query)
		}
	}
}

// receive waits for a value.
func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for: %s", what)
		panic("unreachable")
	}
}

// waitUntil waits until the pool shows what the test expects.
func waitUntil(t testing.TB, p *Pool, what string, seen func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := p.Changed()
		if seen() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// waitFor waits for an event.
func waitFor(t testing.TB, p *Pool, what What, matching ...func(Event) bool) Event {
	t.Helper()
	var found Event
	waitUntil(t, p, "event "+string(what), func() bool {
		events, _ := p.Events(0)
	next:
		for _, e := range events {
			if e.What != what {
				continue
			}
			for _, match := range matching {
				if !match(e) {
					continue next
				}
			}
			found = e
			return true
		}
		return false
	})
	return found
}

// waitBegan waits until so many handlers have been called.
func waitBegan(t testing.TB, p *Pool, handlers int) {
	t.Helper()
	for range handlers {
		receive(t, "a handler to begin", p.signals.began.ch)
	}
}

func has(p *Pool, what What) bool {
	events, _ := p.Events(0)
	for _, e := range events {
		if e.What == what {
			return true
		}
	}
	return false
}

// worker is the snapshot of one worker.
func (p *Pool) workerNamed(t testing.TB, name string) Snapshot {
	t.Helper()
	for _, s := range p.Workers() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("worker %s is not listed", name)
	return Snapshot{}
}

// waitDone waits until no job of any queue is pending or in processing.
func waitDone(t testing.TB, p *Pool) {
	t.Helper()
	waitUntil(t, p, "all jobs done", func() bool {
		return count(t, p.q, "SELECT count(*) FROM leasetop.jobs WHERE status IN ('pending', 'processing')") == 0
	})
}

// waitStatus waits until a job of the pool has a status.
func waitStatus(t testing.TB, p *Pool, id int64, status queue.Status) *queue.Job {
	t.Helper()
	var job *queue.Job
	waitUntil(t, p, fmt.Sprintf("job %d %s", id, status), func() bool {
		job = get(t, p.q, id)
		return job.Status == status
	})
	return job
}

// ledger is a table of effects, one row for each time an effect happened.
type ledger struct{ q *queue.Queue }

func newLedger(t testing.TB, q *queue.Queue) ledger {
	t.Helper()
	exec(t, q, "CREATE TABLE IF NOT EXISTS ledger (job bigint NOT NULL)")
	return ledger{q}
}

// effect does the job's effect once and completes the job in the same transaction.
func (l ledger) effect(ctx context.Context, job *queue.Job) error {
	return pgx.BeginFunc(ctx, l.q.Pool(), func(tx pgx.Tx) error {
		if err := l.note(ctx, tx, job); err != nil {
			return err
		}
		return CompleteTx(ctx, tx)
	})
}

// note does the effect once.
func (l ledger) note(ctx context.Context, tx pgx.Tx, job *queue.Job) error {
	first, err := l.q.Once(ctx, tx, fmt.Sprintf("job %d", job.ID))
	if err != nil || !first {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO ledger VALUES ($1)", job.ID)
	return err
}

func (l ledger) effects(t testing.TB, id int64) int {
	t.Helper()
	return count(t, l.q, "SELECT count(*) FROM ledger WHERE job = $1", id)
}

// overlaps counts how many handlers run at once.
type overlaps struct{ now, most atomic.Int64 }

func (o *overlaps) enter() {
	n := o.now.Add(1)
	for {
		most := o.most.Load()
		if n <= most || o.most.CompareAndSwap(most, n) {
			return
		}
	}
}

func (o *overlaps) leave() { o.now.Add(-1) }

// gate lets handlers through once it is opened.
type gate struct {
	once sync.Once
	ch   chan struct{}
}

// newGate is opened at the test's end at the latest, before its pools are stopped
// if it was made after them.
func newGate(t testing.TB) *gate {
	g := &gate{ch: make(chan struct{})}
	t.Cleanup(g.open)
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.ch) }) }

// wait is for handlers that heed their context.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
