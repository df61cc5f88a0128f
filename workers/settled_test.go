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
