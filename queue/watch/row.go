package watch

import (
	"math"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// row is what the feed remembers of a job. It is never changed once made.
type row struct {
	id          int64
	queue, kind string
	status      queue.Status
	attempts    int
	maxAttempts int
	runAt       queue.Time
	lockedAt    time.Time
	owner       string
	expiresAt   time.Time
	updatedAt   time.Time
	cancelledBy string // who asked for it to be cancelled; "" nobody
}

func rowOf(j *queue.Job) *row {
	r := &row{
		id: j.ID, queue: j.Queue, kind: j.Kind, status: j.Status,
		attempts: j.Attempts, maxAttempts: j.MaxAttempts,
		runAt: j.RunAt, owner: j.LockedBy, updatedAt: j.UpdatedAt, cancelledBy: j.CancelledBy,
	}
	if j.LockedAt != nil {
		r.lockedAt = *j.LockedAt
	}
	if j.LeaseExpiresAt != nil {
		r.expiresAt = *j.LeaseExpiresAt
	}
	return r
}

func (r *row) lease() Lease {
	return Lease{
		JobID: r.id, Queue: r.queue, Kind: r.kind, Attempts: r.attempts, MaxAttempts: r.maxAttempts,
		Owner: r.owner, LockedAt: r.lockedAt, ExpiresAt: r.expiresAt, CancelledBy: r.cancelledBy,
	}
}

// dueOf is a time of the database as PostgreSQL stores it, in microseconds since 2000
// with the extremes for the infinities: it fits and sorts where Unix time does not.
func dueOf(t queue.Time) int64 {
	switch {
	case t.Infinity > 0:
		return math.MaxInt64
	case t.Infinity < 0:
		return math.MinInt64
	}
	return microsOf(t.Time)
}

func microsOf(t time.Time) int64 { return (t.Unix()-epoch2000)*1e6 + int64(t.Nanosecond())/1000 }

// timeOf is the reverse of dueOf.
func timeOf(due int64) (t queue.Time) {
	switch due {
	case math.MaxInt64:
		t.Infinity = 1
	case math.MinInt64:
		t.Infinity = -1
	default:
		seconds := floored(due, 1e6)
		t.Time = time.Unix(epoch2000+seconds, (due-seconds*1e6)*1000).UTC()
	}
	return t
}

func floored(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	} else {
		return q - 1
	}
}
