package workers

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func pause(t *testing.T, q *queue.Queue, names ...string) {
	t.Helper()
	if _, err := q.Pause(context.Background(), "ann", "maintenance", names...); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, q *queue.Queue, names ...string) {
	t.Helper()
	if resumed, err := q.Resume(context.Background(), names...); err != nil || len(resumed) != len(names) {
		t.Fatalf("resumed %q, %v", resumed, err)
	}
}

// Two processes' workers, of which nobody polls: what starts a job is a notification.
func TestPauseStopsClaimsEverywhereUntilTheResume(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	g := newGate(t)
	inside, settled := make(chan struct{}, 10), make(chan Settled, 10)
	h := on(func(ctx context.Context, _ *queue.Job) error {
		inside <- struct{}{}
		return g.wait(ctx)
	})
	h.Queue("other", nothing)
	var pools []*Pool
	var idle []<-chan string
	for range 2 {
		p := newPool(t, openAt(t, url, nil), h, Options{PollMin: never, PollMax: never, Settled: func(s Settled) { settled <- s }})
		idle = append(idle, p.signals.idle.listen())
		listens := p.signals.listens.listen()
		start(t, p)
		receive(t, "LISTEN", listens)
		spawn(t, p, 3, "q", "other")
		pools = append(pools, p)
	}
	running := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the job that runs", inside)
	pause(t, q, "q")
	waiting := enqueue(t, q, many(4, queue.NewJob{})...)
	other := enqueue(t, q, queue.NewJob{Queue: "other"})[0]
	if s := receive(t, "the other queue's job", settled); s.Job.ID != other {
		t.Errorf("job %d is done, want %d", s.Job.ID, other)
	}
	for i, p := range pools { // both look again, at both queues
		for len(idle[i]) > 0 {
			<-idle[i]
		}
		p.wakeAll()
		receive(t, "the worker to find nothing", idle[i])
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE id = ANY ($1) AND status = 'pending' AND attempts = 0", waiting); n != len(waiting) {
		t.Errorf("%d of %d wait", n, len(waiting))
	}
	g.open() // what runs finishes
	if s := receive(t, "the running job", settled); s.Job.ID != running || s.Status != queue.Completed {
		t.Errorf("job %d is %s, want %d completed", s.Job.ID, s.Status, running)
	}
	resume(t, q, "q")
	for range waiting {
		if s := receive(t, "the jobs that waited", settled); s.Status != queue.Completed {
			t.Errorf("job %d is %s", s.Job.ID, s.Status)
		}
	}
}

func TestResumeWakesWorkersAtOnce(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	pause(t, q, "q")
	exec(t, q, "INSERT INTO leasetop.jobs (queue, run_at) SELECT 'q', now() - n * interval '1 min' FROM generate_series(1, 5) n")
	p := newPool(t, q, on(nothing), Options{PollMin: never, PollMax: never})
	idle, listens := p.signals.idle.listen(), p.signals.listens.listen()
	start(t, p)
	receive(t, "LISTEN", listens)
	for range 2 {
		spawn(t, p, 1, "q")
		receive(t, "the worker to find nothing", idle)
	}
	resume(t, q, "q")
	waitDone(t, p)
}

func TestPauseSurvivesRestarts(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	q := openAt(t, url, nil)
	pause(t, q, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	if err := server.Restart(t.Context(), local.Fast); err != nil {
		t.Fatal(err)
	}
	q.Pool().Reset()
	p := newPool(t, q, on(nothing), Options{PollMin: time.Millisecond, PollMax: time.Millisecond})
	idle := p.signals.idle.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	for range 10 {
		receive(t, "the worker to find nothing", idle)
	}
	if job := get(t, q, id); job.Status != queue.Pending {
		t.Errorf("the job is %s", job.Status)
	}
	if pauses, err := q.Pauses(t.Context()); err != nil || len(pauses) != 1 || pauses[0].By != "ann" || pauses[0].Why != "maintenance" {
		t.Errorf("paused: %+v, %v", pauses, err)
	}
	resume(t, q, "q")
	waitStatus(t, p, id, queue.Completed)
}
