package faults

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// The kinds of jobs that can never be done.
const (
	PoisonPermanent = "poison_permanent" // the handler says so
	PoisonPanic     = "poison_panic"     // the handler panics
	PoisonKiller    = "poison_killer"    // it takes its worker down
)

// Poison adds the handlers of the three poisons to h. kill ends the worker that runs the
// job: [KillSelf] in a worker process, a call of [KillWorker] else.
func Poison(h *workers.Handlers, kill func(job *queue.Job)) {
	h.Kind(PoisonPermanent, func(context.Context, *queue.Job) error {
		return queue.Permanent(errors.New("the payload has no field \"to\": nobody will ever be able to send this"))
	})
	h.Kind(PoisonPanic, func(_ context.Context, job *queue.Job) error {
		var mail struct{ To *struct{ Address string } }
		if err := json.Unmarshal(job.Payload, &mail); err != nil {
			return queue.Permanent(err)
		}
		if mail.To.Address == "" { // panics where nobody is named, as such code does
			return queue.Permanent(errors.New("the recipient has no address"))
		}
		return nil
	})
	h.Kind(PoisonKiller, func(ctx context.Context, job *queue.Job) error {
		kill(job)
		<-ctx.Done() // nothing of what it returns is heard any more
		return context.Cause(ctx)
	})
}

// KillSelf ends this process by a real SIGKILL, as the kernel does when memory runs out.
func KillSelf(*queue.Job) { die() }

// KillWorker crashes the worker of the pool that runs the job. It does nothing when
// that worker is gone already.
func KillWorker(pool *workers.Pool, job *queue.Job) {
	if token, ok := queue.ParseToken(job.LockedBy); ok {
		_ = pool.Kill(token.Worker)
	}
}
