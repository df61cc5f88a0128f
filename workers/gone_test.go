package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// untilGone stays after its context was cancelled, until its lease is gone.
func untilGone(began chan<- int64, causes chan<- error) Handler {
	return func(ctx context.Context, job *queue.Job) error {
		if TimeToReturn(ctx) <= 0 {
			causes <- errors.New("no time to return")
			return nil
		}
		began <- job.ID
		<-ctx.Done()
		<-LeaseGone(ctx)
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	}
}

func TestHandlerThatDrainsLearnsThatItsLeaseIsLost(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	began, causes := make(chan int64, 1), make(chan error, 1)
	p := newPool(t, q, on(untilGone(began, causes)), Options{Lease: time.Second, Grace: time.Minute})
	start(t, p)
	spawn(t, p, 1, "q")
	id := enqueue(t, q, queue.NewJob{})[0]
	receive(t, "the handler", began)
	first := make(chan error, 1)
	go func() { first <- p.Stop(context.Background()) }()
	waitFor(t, p, DrainBegun)
	p.mu.Lock()
	p.workers[0].runs[0].stop(ErrDrained) // as the end of the grace does
	p.mu.Unlock()
	exec(t, q, "UPDATE leasetop.jobs SET locked_by = 'somebody else' WHERE id = $1", id)
	if cause := receive(t, "the handler's end", causes); !errors.Is(cause, ErrDrained) {
		t.Errorf("cancelled because of %v, want the first cause to stay", cause)
	}
	if err := receive(t, "the stop", first); err != nil {
		t.Error(err)
	}
	if !has(p, LeaseLost) {
		t.Error("no event tells of the lost lease")
	}
}

func TestLeaseOfKilledWorkerIsGone(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	began, causes := make(chan int64, 1), make(chan error, 1)
	p := startPool(t, q, on(untilGone(began, causes)), Options{Lease: time.Second}, 1)
	enqueue(t, q, queue.NewJob{})
	receive(t, "the handler", began)
	if err := p.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, "the handler's end", causes); !errors.Is(cause, ErrCrashed) {
		t.Errorf("cancelled because of %v, want ErrCrashed", cause)
	}
}

func TestContextOfNoHandlerHasNoLeaseToLose(t *testing.T) {
	t.Parallel()
	if LeaseGone(t.Context()) != nil {
		t.Error("a channel for a context of no handler")
	}
	if TimeToReturn(t.Context()) != 0 {
		t.Error("time to return for a context of no handler")
	}
}
