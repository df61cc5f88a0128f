package workers

import "time"

// mustBeLeft is how much must be left of a lease for a heartbeat that is sent now to
// renew it. A handler is stopped when its margin is left. So a heartbeat that the
// database sees only then was held up, as by a network, and speaks for a job that is
// given up: renewed, that would wait for another whole lease to run out. A claim yet to
// be confirmed and an outcome yet to be written are renewed on purpose, however late.
// The lock is held.
func (r *run) mustBeLeft() time.Duration {
	if r.phase != handling || r.refused {
		return 0
	}
	return r.margin
}

// notRenewed is told of a lease that stands, with the deadline that it had. When its
// heartbeat came back in time, the row is locked just now, or the database's clock has
// jumped ahead and little is left by it. So it is asked for again at once, whatever is
// left. The lock is held.
func (r *run) notRenewed(answered time.Duration) {
	if r.worker.pool.holders[r.job.ID] == r && !r.refused && answered < r.trust {
		r.refused, r.beatDue = true, answered
	}
}
