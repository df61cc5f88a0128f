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
	Delay    time.Duration // how long a pending job waits before it is tried again
	Err      error         // what the handler returned; safe to read, also when that was not
	Took     time.Duration // from the claim to the outcome
}

// tellSettled passes on an outcome that was written.
func (r *run) tellSettled(status queue.Status, gaveBack bool) {
	p := r.worker.pool
	if p.o.Settled == nil {
		return
	}
	s := Settled{Worker: r.worker.name, Job: r.job, Status: status, GaveBack: gaveBack, Err: r.err, Took: p.wall().Sub(r.since)}
	if status == queue.Pending {
		s.Delay = r.waits
	}
	p.call("Options.Settled", func() { p.o.Settled(s) })
}
