package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestEachOutcomeIsToldAsItStandsInTheDatabase(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	told := make(chan Settled, 10)
	boom := errors.New("boom")
	p := newPool(t, q, on(func(_ context.Context, job *queue.Job) error {
		switch job.Kind {
		case "retry", "fail":
			return boom
		case "poison":
			return queue.Permanent(boom)
		case "snooze":
			return queue.Snooze(never)
		}
		return nil
	}, WithBackoff(func(int) time.Duration { return never })), Options{Settled: func(s Settled) { told <- s }})
	start(t, p)
	spawn(t, p, 2, "q")
	for _, c := range []struct {
		job      queue.NewJob
		status   queue.Status
		gaveBack bool
		err      error
	}{
		{queue.NewJob{Kind: "fine"}, queue.Completed, false, nil},
		{queue.NewJob{Kind: "retry"}, queue.Pending, false, boom},
		{queue.NewJob{Kind: "fail", MaxAttempts: 1}, queue.Failed, false, boom},
		{queue.NewJob{Kind: "poison"}, queue.Dead, false, boom},
		{queue.NewJob{Kind: "snooze"}, queue.Pending, true, nil},
	} {
		id := enqueue(t, q, c.job)[0]
		s := receive(t, c.job.Kind, told)
		if s.Job.ID != id || s.Worker != "w1" || s.Status != c.status || s.GaveBack != c.gaveBack || c.err != nil && !errors.Is(s.Err, c.err) {
			t.Errorf("%s: told %+v", c.job.Kind, s)
		}
		if now := get(t, q, id); now.Status != s.Status {
			t.Errorf("%s: told %s, but it is %s", c.job.Kind, s.Status, now.Status)
		}
	}
	if s := p.workerNamed(t, "w1"); s.Claimed != 5 {
		t.Errorf("%d claimed, want 5", s.Claimed)
	}
}

// What was fenced, or never settled, is no outcome.
func TestLostLeaseIsNoOutcome(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	told := make(chan Settled, 1)
	g := newGate(t)
	p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error { <-g.ch; return nil }),
		Options{PollMax: never, PollMin: never, Settled: func(s Settled) { told <- s }})
	start(t, p)
	id := enqueue(t, q, queue.NewJob{})[0]
	spawn(t, p, 1, "q")
	waitBegan(t, p, 1)
	exec(t, q, "UPDATE leasetop.jobs SET locked_by = 'somebody else' WHERE id = $1", id)
	g.open()
	waitFor(t, p, StaleFenced)
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	select {
	case s := <-told:
		t.Errorf("told %+v", s)
	default:
	}
}

// A job that was cancelled without its worker knowing ends dead however it is given
// back: told is what became of it, and that somebody cancelled it.
func TestOutcomesOfCancelledJobsAreToldAsTheyEnd(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		err     error
		drained bool
		status  queue.Status
		history string
	}{
		"completed": {nil, false, queue.Completed, ""},
		"retried":   {boom, false, queue.Dead, "boom"},
		"buried":    {queue.Permanent(boom), false, queue.Dead, "boom"},
		"snoozed":   {queue.Snooze(never), false, queue.Dead, ""},
		"released":  {boom, true, queue.Dead, ""},
	} {
		h := NewHandlers()
		g := newGate(t)
		h.Queue(name, func(ctx context.Context, _ *queue.Job) error {
			if c.drained {
				<-ctx.Done()
			}
			<-g.ch
			return c.err
		})
		told := make(chan Settled, 1)
		p := newPool(t, q, h, Options{Lease: never, Settled: func(s Settled) { told <- s }})
		start(t, p)
		spawn(t, p, 1, name)
		id := enqueue(t, q, queue.NewJob{Queue: name})[0]
		waitBegan(t, p, 1)
		exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", id) // as a cancel whose notification was lost
		stopped := make(chan error, 1)
		if c.drained {
			over, cancel := context.WithCancel(context.Background())
			cancel()
			go func() { stopped <- p.Stop(over) }()
		}
		g.open()
		s := receive(t, name, told)
		job := get(t, q, id)
		if s.Status != c.status || s.GaveBack || job.Status != c.status {
			t.Errorf("%s: told %s, gave back %v; it is %s", name, s.Status, s.GaveBack, job.Status)
		}
		if c.drained {
			if err := receive(t, "the stop", stopped); err != nil {
				t.Error(err)
			}
		}
		snap := p.workerNamed(t, "w1")
		if c.status == queue.Completed {
			continue
		}
		// A heartbeat may find the cancel before the stop ends the handler: then its error is told.
		found := func(history string) bool { return history == c.history || c.drained && history == "boom" }
		if job.LastError != "cancelled by ann" || len(job.Errors) != 1 || job.Errors[0].Outcome != "cancelled" || !found(job.Errors[0].Error) {
			t.Errorf("%s: it ended with %q, history %+v", name, job.LastError, job.Errors)
		}
		if snap.Failed != 1 || snap.Processed != 1 {
			t.Errorf("%s: counted as %+v", name, snap)
		}
		if c.err != nil && !queue.IsPermanent(c.err) {
			waitFor(t, p, Cancelled, func(e Event) bool { return e.JobID == id })
		}
	}
}
