package workers

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestNotificationWakesASleepingWorker(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	idle, listens := p.signals.idle.listen(), p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	spawn(t, p, 1, "q")
	receive(t, "the worker to find nothing", idle)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitStatus(t, p, id, queue.Completed)
}

// One notification stands for three jobs: each worker whose slots are full wakes the next.
func TestOneNotificationWakesAsManyWorkersAsThereIsWorkFor(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	inside := make(chan struct{}, 3)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
		inside <- struct{}{}
		return g.wait(ctx)
	}), Options{PollMin: never, PollMax: never})
	idle, listens := p.signals.idle.listen(), p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	for range 3 {
		spawn(t, p, 1, "q")
	}
	for range 3 {
		receive(t, "a worker to find nothing", idle)
	}
	enqueue(t, q, many(3, queue.NewJob{})...)
	for range 3 {
		receive(t, "all three at once", inside)
	}
	g.open()
	waitDone(t, p)
}

func TestWorkAnnouncedWhileLISTENWasLostIsFound(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	listens := p.signals.listens.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	receive(t, "LISTEN", listens)
	exec(t, q, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%listen leasetop_ready%' AND pid <> pg_backend_pid()")
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "LISTEN again", listens)
	waitStatus(t, p, id, queue.Completed)
	waitFor(t, p, DBTrouble)
}

// CASES "Half-open LISTEN": its connection stands, and nothing comes through any more.
// Work is found by polling, and the connection is replaced once it does not answer.
func TestSilentLISTENDelaysWorkByOnePollAtMost(t *testing.T) {
	t.Parallel()
	q := openAt(t, testdb.On(t, testdb.Server(t)), nil) // its own: a backend is stopped
	p := newPool(t, q, on(nothing), Options{PollMin: 50 * time.Millisecond, PollMax: 50 * time.Millisecond})
	listens := p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	pid, giveUp := 0, time.Now().Add(patience)
	for pid == 0 { // it listens a moment before it says that it waits
		if err := q.Pool().QueryRow(t.Context(), "SELECT coalesce(min(pid), 0) FROM pg_stat_activity WHERE query ILIKE '%listen leasetop_ready%' AND wait_event = 'ClientRead' AND pid <> pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(giveUp) {
			t.Fatal("no connection listens")
		}
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	spawn(t, p, 1, "q")
	for range 3 {
		waitStatus(t, p, enqueue(t, q, queue.NewJob{})[0], queue.Completed)
	}
	select {
	case <-listens:
		t.Error("it listened again before the work was done")
	default:
	}
	if os.Getenv("LEASETOP_TEST_FULL") == "" { // it takes 25 s
		return
	}
	receive(t, "LISTEN again", listens)
	if found := waitFor(t, p, DBTrouble); !strings.Contains(found.Text, "LISTEN") {
		t.Errorf("%+v", found)
	}
}

func TestWakeOfAKilledWorkerIsPassedOn(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{})
	first, second := spawn(t, p, 1, "q"), spawn(t, p, 1, "q")
	p.wakeOne("q", nil)
	p.mu.Lock()
	woken, other := p.workers[0], p.workers[1]
	if len(woken.woken) != 1 || len(other.woken) != 0 {
		t.Fatalf("woken for: %v and %v, want just the first", woken.woken, other.woken)
	}
	p.mu.Unlock()
	if err := p.Kill(first); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !other.woken["q"] {
		t.Errorf("%s was not woken in place of %s", second, first)
	}
}

func TestPollingGrowsToItsMaximumWithJitter(t *testing.T) {
	t.Parallel()
	p := pace{min: 100 * time.Millisecond, max: time.Second}
	for _, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		want *= time.Millisecond
		if got := p.next(); got > want || got < want*3/4 {
			t.Errorf("waits %v, want %v less at most a quarter", got, want)
		}
	}
	p.reset()
	if got := p.next(); got > 100*time.Millisecond {
		t.Errorf("after a reset it waits %v", got)
	}
}
