package workers

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// cancel asks for running jobs to be cancelled.
func cancel(t *testing.T, q *queue.Queue, ids ...int64) {
	t.Helper()
	done, err := q.Cancel(context.Background(), "ann", ids...)
	if err != nil || len(done.Asked) != len(ids) {
		t.Fatalf("cancel: %+v, %v; want %d asked", done, err, len(ids))
	}
}

// wantCancelled waits for the one clear end of a cancelled job.
func wantCancelled(t *testing.T, p *Pool, id int64, said string) {
	t.Helper()
	checkCancelled(t, waitStatus(t, p, id, queue.Dead), said)
}

func checkCancelled(t *testing.T, job *queue.Job, said string) {
	t.Helper()
	last := queue.Attempt{}
	if len(job.Errors) > 0 {
		last = job.Errors[len(job.Errors)-1]
	}
	if job.Status != queue.Dead || job.LastError != "cancelled by ann" || last.Outcome != "cancelled" || !strings.Contains(last.Error, said) {
		t.Errorf("it is %s, %q, history %+v; want it dead, cancelled by ann, and %q in the history", job.Status, job.LastError, job.Errors, said)
	}
}

func TestCancelOfARunningJobEndsItsHandlerAtOnce(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := newPool(t, q, on(untilCancelled(causes)), Options{Lease: never}) // no heartbeat is due for minutes
	listens := p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	cancel(t, q, id)
	if cause := receive(t, "the handler", causes); !errors.Is(cause, queue.ErrCancelled) {
		t.Errorf("cancelled because of %v, want ErrCancelled", cause)
	}
	wantCancelled(t, p, id, "context canceled")
	if e := waitFor(t, p, Cancelled); e.JobID != id || e.Worker != "w1" || !strings.Contains(e.Text, "ann") {
		t.Errorf("it is told as %+v", e)
	}
	waitUntil(t, p, "the slot", func() bool { return p.Workers()[0].State == Idle })
	if s := p.Workers()[0]; s.Failed != 1 || s.Lost+s.Fenced != 0 {
		t.Errorf("counted as %+v", s)
	}
	again := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1) // the slot takes the next job
	cancel(t, q, again)
	wantCancelled(t, p, again, "")
}

// Nobody hears of it but the heartbeat.
func TestCancelIsFoundByTheHeartbeat(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := startPool(t, q, on(untilCancelled(causes)), Options{Lease: 3 * time.Second}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", id)
	if cause := receive(t, "the handler", causes); !errors.Is(cause, queue.ErrCancelled) {
		t.Errorf("cancelled because of %v, want ErrCancelled", cause)
	}
	wantCancelled(t, p, id, "")
}

func TestCancelWhileNobodyListenedIsFoundWhenSomebodyDoes(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := newPool(t, q, on(untilCancelled(causes)), Options{Lease: never})
	listens := p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", id) // as if its notification were lost
	exec(t, q, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%listen leasetop_ready%' AND pid <> pg_backend_pid()")
	receive(t, "the handler", causes)
	wantCancelled(t, p, id, "")
}

// A heartbeat that was sent before the cancel has not seen it: another follows,
// however far off the next was to be.
func TestCancelDuringAHeartbeatIsNotMissed(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{})
	p.base = context.Background()
	defer func() { p.base = nil }() // it was never started
	r := newRun(newWorker(p, "w", []string{"q"}, 1), &queue.Job{ID: 7, Queue: "q"})
	p.hold(r)
	r.beatDue = p.clock() + time.Hour
	p.heart.gather() // the heartbeat that is sent
	p.hearControl("cancel 8")
	if wait, _ := p.heart.untilDue(); wait <= 0 {
		t.Error("somebody else's job makes this process send a heartbeat")
	}
	p.hearControl("cancel 7")
	if wait, _ := p.heart.untilDue(); wait > 0 {
		t.Errorf("the next heartbeat is due in %v, want now", wait)
	}
	p.heart.gather()
	if wait, _ := p.heart.untilDue(); wait <= 0 {
		t.Error("heartbeats do not come to rest")
	}
}

func TestCancelReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	id := enqueue(t, q, queue.NewJob{})[0]
	p := runProcess(t, url, "heedful")
	p.hear(t, "began")
	cancel(t, q, id)
	p.hear(t, "cancelled by ann")
	p.signal(t, syscall.SIGTERM)
	if status, said := p.end(t); status.ExitStatus() != 0 {
		t.Errorf("it ended with status %d:\n%s", status.ExitStatus(), said)
	}
	checkCancelled(t, get(t, q, id), "job cancelled")
}

// What the handler returns decides, and a result is not thrown away.
func TestCancelOfAJobThatIsJustFinishingHasOneEnd(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	boom := errors.New("boom")
	ends := map[string]func(ctx context.Context, job *queue.Job) error{
		"done":      func(context.Context, *queue.Job) error { return nil },
		"committed": func(ctx context.Context, job *queue.Job) error { return l.effect(context.WithoutCancel(ctx), job) },
		"failed":    func(context.Context, *queue.Job) error { return boom },
		"permanent": func(context.Context, *queue.Job) error { return queue.Permanent(boom) },
		"snoozed":   func(context.Context, *queue.Job) error { return queue.Snooze(time.Hour) },
		"panicked":  func(context.Context, *queue.Job) error { panic("boom") },
	}
	h := NewHandlers()
	for kind, end := range ends {
		h.Kind(kind, func(ctx context.Context, job *queue.Job) error {
			<-ctx.Done()
			return end(ctx, job)
		})
	}
	p := startPool(t, q, h, Options{Lease: 3 * time.Second}, 0)
	spawn(t, p, len(ends), "q")
	for kind := range ends {
		id := enqueue(t, q, queue.NewJob{Kind: kind})[0]
		waitBegan(t, p, 1)
		cancel(t, q, id)
		switch kind {
		case "done", "committed":
			if job := waitStatus(t, p, id, queue.Completed); job.LastError != "" || job.Attempts != 1 {
				t.Errorf("%s: error %q, attempts %d", kind, job.LastError, job.Attempts)
			}
		case "failed", "permanent", "panicked":
			wantCancelled(t, p, id, "boom")
		default:
			wantCancelled(t, p, id, "snoozed")
		}
	}
	if has(p, StaleFenced) || has(p, LeaseLost) {
		t.Error("a cancel was taken for a lost lease")
	}
}

// The cancel waits for the handler's transaction, and comes too late.
func TestCancelOfACommittingJobFindsItCompleted(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	inside, g := make(chan struct{}), newGate(t)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		return pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error {
			if err := errors.Join(l.note(ctx, tx, job), CompleteTx(ctx, tx)); err != nil {
				return err
			}
			close(inside)
			<-g.ch
			return nil
		})
	}), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler's transaction", inside)
	answer := make(chan queue.Cancelled, 1)
	go func() {
		for { // it waits for a lock for a few seconds, and then says who has it
			done, err := q.Cancel(context.Background(), "ann", id)
			if err != nil {
				t.Error(err)
			}
			if len(done.Skipped) == 1 && done.Skipped[0].Failed && t.Context().Err() == nil {
				continue
			}
			answer <- done
			return
		}
	}()
	until(t, q, 1, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%leasetop cancel%'")
	g.open()
	if done := receive(t, "the cancel", answer); len(done.Skipped) != 1 || len(done.Asked)+len(done.IDs) != 0 {
		t.Errorf("cancelled: %+v, want it skipped", done)
	}
	job := waitStatus(t, p, id, queue.Completed)
	if l.effects(t, id) != 1 || job.CancelledBy != "" {
		t.Errorf("%d effects, cancelled by %q", l.effects(t, id), job.CancelledBy)
	}
}

// The cancel came after the last heartbeat: the outcome's statement knows, and says so.
func TestCancelUnknownToTheWorkerEndsTheJobAllTheSame(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	told := make(chan Settled, 1)
	g := newGate(t)
	p := newPool(t, q, on(func(context.Context, *queue.Job) error { <-g.ch; return errors.New("boom") }),
		Options{Lease: never, Settled: func(s Settled) { told <- s }})
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", id)
	g.open()
	if s := receive(t, "the outcome", told); s.Status != queue.Dead {
		t.Errorf("told as %s, want dead", s.Status)
	}
	wantCancelled(t, p, id, "boom")
	waitFor(t, p, Cancelled)
}

// A worker that knows nothing of cancels gave the job back.
func TestCancelledJobThatIsClaimedIsNotRun(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, "INSERT INTO leasetop.jobs (queue, cancelled_by) VALUES ('q', 'ann')")
	p := startPool(t, q, on(func(context.Context, *queue.Job) error {
		t.Error("the handler was called")
		return nil
	}), Options{}, 1)
	wantCancelled(t, p, 1, "job cancelled")
	if e := waitFor(t, p, Cancelled); e.JobID != 1 || !strings.Contains(e.Text, "not run") {
		t.Errorf("it is told as %+v", e)
	}
}

func TestCancelOfAPendingJobKeepsItFromRunning(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	id := enqueue(t, q, queue.NewJob{})[0]
	done, err := q.Cancel(t.Context(), "ann", id)
	if err != nil || len(done.IDs) != 1 {
		t.Fatalf("cancel: %+v, %v", done, err)
	}
	p := newPool(t, q, on(nothing), Options{})
	idle := p.signals.idle.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	receive(t, "the worker to find nothing", idle)
	wantCancelled(t, p, id, "")
	if job := get(t, q, id); job.Attempts != 0 {
		t.Errorf("attempts %d", job.Attempts)
	}
}

func TestCancelWhileDrainingBeatsTheRelease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := newPool(t, q, on(untilCancelled(causes)), Options{Lease: never, Grace: never})
	listens := p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	stopped := make(chan error, 1)
	go func() { stopped <- p.Stop(context.Background()) }()
	waitFor(t, p, DrainBegun)
	cancel(t, q, id)
	if cause := receive(t, "the handler", causes); !errors.Is(cause, queue.ErrCancelled) {
		t.Errorf("cancelled because of %v, want ErrCancelled", cause)
	}
	if err := receive(t, "the stop", stopped); err != nil {
		t.Error(err)
	}
	wantCancelled(t, p, id, "")
}

func TestCancelledJobOfAKilledWorkerIsDeadAfterItsLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	causes := make(chan error, 1)
	p := startPool(t, q, on(untilCancelled(causes)), Options{Lease: time.Second}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitBegan(t, p, 1)
	if err := p.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	cancel(t, q, id)
	spawn(t, p, 1, "q")
	if e := waitFor(t, p, ReapedDead); e.JobID != id || !strings.Contains(e.Text, "cancelled by ann") {
		t.Errorf("it is told as %+v", e)
	}
	if job := waitStatus(t, p, id, queue.Dead); job.LastError != "cancelled by ann" || job.Attempts != 1 {
		t.Errorf("it ended with %q after %d attempts", job.LastError, job.Attempts)
	}
}

func TestHandlerThatIgnoresItsCancelCountsAsStuckAndMayComplete(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p := newPool(t, q, on(func(_ context.Context, job *queue.Job) error {
		if job.Kind == "stubborn" {
			<-g.ch
		}
		return nil
	}), Options{Lease: 3 * time.Second, Grace: 300 * time.Millisecond})
	defer g.open()
	start(t, p)
	spawn(t, p, 2, "q")
	id := enqueue(t, q, queue.NewJob{Kind: "stubborn"})[0]
	waitBegan(t, p, 1)
	cancel(t, q, id)
	if e := waitFor(t, p, StuckFound); e.JobID != id || p.Stuck() != 1 {
		t.Errorf("told as %+v, %d stuck", e, p.Stuck())
	}
	waitStatus(t, p, enqueue(t, q, queue.NewJob{})[0], queue.Completed) // the other slot goes on
	g.open()
	waitStatus(t, p, id, queue.Completed)
	waitUntil(t, p, "nobody to be stuck", func() bool { return p.Stuck() == 0 })
}

func TestControlChannelsUnknownWordsAreLeftAlone(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	idle, listens := p.signals.idle.listen(), p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	spawn(t, p, 1, "q")
	receive(t, "the worker to find nothing", idle)
	for _, text := range []string{"", "cancel", "cancel x", "cancel 9223372036854775808", "cancel 77", "limit q 5", "queue"} {
		exec(t, q, "SELECT pg_notify('leasetop_control', $1)", text)
	}
	waitStatus(t, p, enqueue(t, q, queue.NewJob{})[0], queue.Completed)
	if has(p, DBTrouble) {
		t.Error("there was trouble")
	}
}
