package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// refuse has the server refuse every update of a job's row under a condition.
func refuse(t *testing.T, q *queue.Queue, id int64, when string) {
	t.Helper()
	exec(t, q, `create or replace function app_raise() returns trigger language plpgsql as $$begin raise exception 'frozen by the app' using detail = 'ask the app'; end$$`)
	exec(t, q, fmt.Sprintf("create trigger app_raise before update on leasetop.jobs for each row when (new.id = %d and (%s)) execute function app_raise()", id, when))
}

// A job that cannot be claimed holds up neither its own queue nor the next, and is named.
func TestRefusedJobHoldsUpNoQueue(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	ids := enqueue(t, q, queue.NewJob{Queue: "m1"}, queue.NewJob{Queue: "m1"}, queue.NewJob{Queue: "m2"})
	refuse(t, q, ids[0], "true")
	h := NewHandlers()
	for _, name := range []string{"m1", "m2"} {
		h.Queue(name, func(context.Context, *queue.Job) error { return nil })
	}
	p := newPool(t, q, h, Options{PollMax: 200 * time.Millisecond})
	start(t, p)
	spawn(t, p, 1, "m1", "m2")
	waitStatus(t, p, ids[1], queue.Completed)
	waitStatus(t, p, ids[2], queue.Completed)
	e := waitFor(t, p, RowRefused)
	if e.JobID != ids[0] || e.Queue != "m1" || !strings.Contains(e.Text, fmt.Sprintf("the server refuses to claim job %d: frozen by the app (ask the app); passed over for 1s", ids[0])) {
		t.Errorf("%+v", e)
	}
	if has(p, DBTrouble) {
		t.Error("told as trouble of the database")
	}
}

// A lease that cannot be renewed ends its own handler, with the server's reason, and the
// other nine go on.
func TestRefusedHeartbeatStopsItsOwnHandler(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	ids := enqueue(t, q, many(10, queue.NewJob{})...)
	bad := ids[4]
	g := newGate(t)
	var mu sync.Mutex
	causes := map[int64]error{}
	p, err := New(q, on(func(ctx context.Context, job *queue.Job) error {
		err := g.wait(ctx)
		mu.Lock()
		defer mu.Unlock()
		causes[job.ID] = context.Cause(ctx)
		return err
	}), Options{Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) }) // whose error names the job
	p.signals.began.listen()
	start(t, p)
	spawn(t, p, 10, "q")
	waitBegan(t, p, 10)
	refuse(t, q, bad, "true")
	e := waitFor(t, p, RowRefused)
	if e.JobID != bad || !strings.Contains(e.Text, "frozen by the app") {
		t.Errorf("%+v", e)
	}
	e = waitFor(t, p, TrustEnded)
	if e.JobID != bad || !strings.Contains(e.Text, "frozen by the app") {
		t.Errorf("%+v", e)
	}
	g.open()
	for _, id := range ids {
		if id != bad {
			if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 1 {
				t.Errorf("job %d took %d attempts", id, job.Attempts)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if cause := causes[bad]; !errors.Is(cause, ErrTrustEnded) || !errors.Is(cause, queue.ErrRowRefused) {
		t.Errorf("its handler was cancelled by %v", cause)
	}
}

// A completion that is refused holds up none of those that come with it, keeps its lease,
// gives its slot back, and is written once the server lets it: the job is done once.
func TestRefusedCompletionIsTriedAgain(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	ids := enqueue(t, q, many(10, queue.NewJob{})...)
	bad := ids[4]
	refuse(t, q, bad, "new.status = 'completed'")
	var mu sync.Mutex
	done := map[int64]int{}
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		mu.Lock()
		done[job.ID]++
		mu.Unlock()
		return g.wait(ctx)
	}), Options{PollMax: 200 * time.Millisecond})
	refused := p.signals.refused.listen()
	start(t, p)
	name := spawn(t, p, 10, "q")
	waitBegan(t, p, 10)
	g.open()
	if id := receive(t, "a refusal", refused); id != bad {
		t.Errorf("job %d was refused", id)
	}
	for _, id := range ids {
		if id != bad {
			waitStatus(t, p, id, queue.Completed)
		}
	}
	more := enqueue(t, q, many(20, queue.NewJob{})...) // its slot is free
	for _, id := range more {
		waitStatus(t, p, id, queue.Completed)
	}
	waitUntil(t, p, "its slot is free", func() bool { return len(p.workerNamed(t, name).Running) == 0 })
	exec(t, q, "drop trigger app_raise on leasetop.jobs")
	waitStatus(t, p, bad, queue.Completed)
	mu.Lock()
	defer mu.Unlock()
	for id, n := range done {
		if n != 1 {
			t.Errorf("job %d was done %d times", id, n)
		}
	}
}

// A stop does not wait for a completion that is refused, and names its job.
func TestStopWithARefusedCompletion(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	id := enqueue(t, q, queue.NewJob{})[0]
	refuse(t, q, id, "new.status = 'completed'")
	p, err := New(q, on(func(context.Context, *queue.Job) error { return nil }), Options{Grace: never})
	if err != nil {
		t.Fatal(err)
	}
	refused := p.signals.refused.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	receive(t, "a refusal", refused)
	if err := p.Stop(context.Background()); !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), fmt.Sprintf("job %d", id)) {
		t.Errorf("stopped with %v", err)
	}
}

// An expired lease that cannot be taken back holds up no other reclaim.
func TestRefusedReclaimHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	ids := enqueue(t, q, many(5, queue.NewJob{})...)
	if jobs, err := q.Claim(t.Context(), queue.ClaimRequest{Queue: "q", Owner: "gone", Lease: time.Millisecond, Limit: 5}); err != nil || len(jobs) != 5 {
		t.Fatal(jobs, err)
	}
	refuse(t, q, ids[0], "true")
	p := newPool(t, q, on(func(context.Context, *queue.Job) error { return nil }), Options{PollMax: 200 * time.Millisecond})
	start(t, p)
	spawn(t, p, 5, "q")
	for _, id := range ids[1:] {
		waitStatus(t, p, id, queue.Completed)
	}
	if e := waitFor(t, p, RowRefused); e.JobID != ids[0] || !strings.Contains(e.Text, "refuses to reclaim") || !strings.Contains(e.Text, "frozen by the app") {
		t.Errorf("%+v", e)
	}
}
