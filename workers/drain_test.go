package workers

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestDrainLetsHandlersFinishAndClaimsNoMore(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	inside := make(chan int64, 2)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error { inside <- job.ID; return g.wait(ctx) }), Options{}, 1)
	ids := enqueue(t, q, many(2, queue.NewJob{})...)
	first := receive(t, "the first job", inside)
	if err := p.Drain("w1"); err != nil {
		t.Fatal(err)
	}
	if s := p.workerNamed(t, "w1"); s.State != Draining {
		t.Errorf("it is %s, want draining", s.State)
	}
	g.open()
	waitFor(t, p, WorkerEnded)
	if s := p.workerNamed(t, "w1"); s.State != Stopped || s.Completed != 1 || len(s.Running) != 0 {
		t.Errorf("after the drain: %+v", s)
	}
	if job := get(t, q, first); job.Status != queue.Completed {
		t.Errorf("the running job is %s", job.Status)
	}
	if job := get(t, q, ids[0]+ids[1]-first); job.Status != queue.Pending || job.Attempts != 0 {
		t.Errorf("the waiting job is %s, attempts %d", job.Status, job.Attempts)
	}
	if err := p.Remove("w1"); err != nil {
		t.Error(err)
	}
}

func TestDrainReleasesWhatDoesNotFinishInTime(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := startPool(t, q, on(untilCancelled(causes)), Options{Grace: time.Second}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	if err := p.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if cause := receive(t, "the handler", causes); !errors.Is(cause, ErrDrained) {
		t.Errorf("cancelled because of %v, want ErrDrained", cause)
	}
	if job := get(t, q, id); job.Status != queue.Pending || job.Attempts != 0 || len(job.Errors) != 0 {
		t.Errorf("released as %s, attempts %d, history %v", job.Status, job.Attempts, job.Errors)
	}
}

func TestHandlerThatIgnoresItsContextIsNamedAndOthersGoOn(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	stubborn, err := New(q, on(func(_ context.Context, job *queue.Job) error {
		if job.Kind == "stubborn" {
			<-g.ch
		}
		return nil
	}), Options{Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	stubborn.signals.began.listen()
	start(t, stubborn)
	spawn(t, stubborn, 2, "q")
	id := enqueue(t, q, queue.NewJob{Kind: "stubborn"})[0]
	waitBegan(t, stubborn, 1)
	if err := stubborn.Drain("w1"); err != nil {
		t.Fatal(err)
	}
	spawn(t, stubborn, 1, "q")
	if e := waitFor(t, stubborn, StuckFound); e.JobID != id || e.Worker != "w1" {
		t.Errorf("found stuck: %+v", e)
	}
	if s := stubborn.workerNamed(t, "w1"); s.Stuck != 1 || s.State != Draining {
		t.Errorf("it is shown as %+v", s)
	}
	for _, id := range enqueue(t, q, many(3, queue.NewJob{})...) {
		waitStatus(t, stubborn, id, queue.Completed)
	}
	err = stubborn.Stop(context.Background())
	if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), "job 1 (q/stubborn) on w1: handler ignores its cancelled context") {
		t.Errorf("stop: %v, want the job to be named", err)
	}
	if s := stubborn.workerNamed(t, "w1"); s.Left != 1 {
		t.Errorf("%d jobs are left, want 1", s.Left)
	}
	if again := stubborn.Stop(context.Background()); !errors.Is(again, ErrLeft) {
		t.Errorf("stop again: %v", again)
	}
	if job := get(t, q, id); job.Status != queue.Processing {
		t.Errorf("its job is %s: released while its handler still runs", job.Status)
	}
	g.open()
}

func TestSecondStopForces(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := newPool(t, q, on(untilCancelled(causes)), Options{Grace: never})
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	first := make(chan error, 1)
	go func() { first <- p.Stop(context.Background()) }()
	waitFor(t, p, DrainBegun)
	if err := p.Stop(context.Background()); err != nil {
		t.Errorf("second stop: %v", err)
	}
	if err := receive(t, "the first stop", first); err != nil {
		t.Errorf("first stop: %v", err)
	}
	if cause := <-causes; !errors.Is(cause, ErrDrained) {
		t.Errorf("cancelled because of %v", cause)
	}
	if job := get(t, q, id); job.Status != queue.Pending || job.Attempts != 0 {
		t.Errorf("the job is %s, attempts %d; want it released", job.Status, job.Attempts)
	}
	if _, err := p.Spawn([]string{"q"}, 1); !errors.Is(err, ErrStopped) {
		t.Errorf("spawn after the stop: %v", err)
	}
}

func TestEndOfStopsContextForces(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := newPool(t, q, on(untilCancelled(causes)), Options{Grace: never})
	start(t, p)
	spawn(t, p, 1, "q")
	enqueue(t, q, queue.NewJob{})
	waitBegan(t, p, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if cause := <-causes; !errors.Is(cause, ErrDrained) {
		t.Errorf("cancelled because of %v", cause)
	}
}

func TestEndOfStartsContextDrains(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { return g.wait(ctx) }), Options{})
	ctx, signal := context.WithCancel(context.Background())
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	signal()
	waitFor(t, p, DrainBegun)
	g.open() // the outcome lands after the signal
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if job := get(t, q, id); job.Status != queue.Completed {
		t.Errorf("the job is %s", job.Status)
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{})
	spawn(t, p, 1, "q")
	for range 2 {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if err := p.Start(context.Background()); !errors.Is(err, ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
	if s := p.Workers()[0]; s.State != Stopped {
		t.Errorf("its worker is %s", s.State)
	}
}

// Short jobs, a stop at a random moment, again and again: what was done is what is completed.
// A Start that comes second has stopped the pool's workers when it says so.
func TestStartThatRacesAStop(t *testing.T) {
	t.Parallel()
	q := anywhere(t, 4)
	refuses := func(p *Pool) {
		t.Helper()
		if name, err := p.Spawn([]string{"q"}, 1); !errors.Is(err, ErrStopped) {
			t.Errorf("spawned %q, %v", name, err)
		}
		for _, s := range p.Workers() {
			if s.State != Stopped {
				t.Errorf("%s is %s", s.Name, s.State)
			}
		}
	}
	// In the middle of Stop.
	p := newPool(t, q, on(nothing), Options{})
	spawn(t, p, 1, "q")
	p.life.end(ErrStopped)
	if err := p.Start(context.Background()); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	refuses(p)
	// Anywhere.
	for range 50 {
		p := newPool(t, q, on(nothing), Options{Grace: never})
		spawn(t, p, 1, "q")
		var both sync.WaitGroup
		both.Go(func() {
			if err := p.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if err := p.Start(context.Background()); errors.Is(err, ErrStopped) {
				refuses(p)
			} else if err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		refuses(p)
	}
}

func TestStopInMidResultLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	enqueue(t, q, many(200, queue.NewJob{})...)
	for round := 0; count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status <> 'completed'") > 0; round++ {
		p := newPool(t, q, on(l.effect), Options{})
		start(t, p)
		spawn(t, p, 4, "q")
		target := uint64(1 + rand.N(20))
		waitUntil(t, p, "some jobs", func() bool {
			return p.Workers()[0].Completed >= target || count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status <> 'completed'") == 0
		})
		if err := p.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		effects, completed := count(t, q, "SELECT count(*) FROM ledger"), count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed'")
		if effects != completed {
			t.Fatalf("round %d: %d effects, %d completed", round, effects, completed)
		}
		if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'processing'"); n != 0 {
			t.Fatalf("round %d: %d jobs left in processing", round, n)
		}
	}
	if doubled := count(t, q, "SELECT count(*) FROM (SELECT FROM ledger GROUP BY job HAVING count(*) > 1) d"); doubled != 0 {
		t.Errorf("%d effects happened twice", doubled)
	}
}
