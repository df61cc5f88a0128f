package workers

import (
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Settled is how a claim ended, as it stands in the database.
type Settled struct {
	Worker string
	Job    *queue.Job
	// Status is what the job was left in: completed; pending, to be tried again;
	// failed; or dead.
	Status   queue.Status
	GaveBack bool          // the attempt was returned: released or snoozed
	Err      error         // what the handler returned
	Took     time.Duration // from the claim to the outcome
}

// tellSettled passes on an outcome that was written.
func (r *run) tellSettled(status queue.Status, gaveBack bool) {
	p := r.worker.pool
	if p.o.Settled == nil {
		return
	}
	p.o.Settled(Settled{
		Worker: r.worker.name, Job: r.job, Status: status, GaveBack: gaveBack, Err: r.err, Took: p.wall().Sub(r.since),
	})
}
