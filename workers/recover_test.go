package workers

import (
	"context"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestRecoveredPanicIsRetried(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := startPool(t, q, on(func(_ context.Context, job *queue.Job) error {
		if job.Attempts == 1 {
			panic("poor thing")
		}
		return nil
	}, WithMiddleware(Recover()), WithBackoff(soon)), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	job := waitStatus(t, p, id, queue.Completed)
	if job.Attempts != 2 || len(job.Errors) != 1 || job.Errors[0].Outcome != "retry" {
		t.Errorf("attempts %d, history %+v; want one retry", job.Attempts, job.Errors)
	}
	if !strings.HasPrefix(job.LastError, "panic: poor thing\n") || !strings.Contains(job.LastError, "TestRecoveredPanicIsRetried") {
		t.Errorf("the error does not lead to the handler:\n%s", job.LastError)
	}
	if has(p, Panicked) {
		t.Error("it was told as buried")
	}
}
