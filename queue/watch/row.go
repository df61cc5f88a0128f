package watch

import (
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

// memoryRows bounds what the stream reader remembers: about 25 MB.
const memoryRows = 100_000

// memory is the last seen state of jobs that are not completed. The stream holds
// no old rows, and what happened to a job lies in the difference.
type memory struct {
	rows map[int64]*row
	// whole says that every job in processing and every dead letter is in rows, so
	// a job that is not in it was pending or completed.
	whole bool
}

func newMemory(seed []*row, whole bool) *memory {
	m := &memory{rows: make(map[int64]*row, len(seed)), whole: whole}
	for _, r := range seed {
		m.rows[r.id] = r
	}
	return m
}

// before is the job's state before now came: nil when that is not known.
func (m *memory) before(id int64, now *row) *row {
	if old := m.rows[id]; old != nil {
		return old
	}
	if !m.whole {
		return nil
	}
	unseen := *now
	unseen.status, unseen.owner = queue.Pending, ""
	return &unseen
}

// keep remembers a job, or forgets it when it is done. When memory is full, jobs
// which are only waiting are not kept: the next thing that happens to them, a
// claim, needs no old row to be told.
func (m *memory) keep(r *row) {
	if r.status == queue.Completed {
		delete(m.rows, r.id)
		return
	}
	if _, have := m.rows[r.id]; !have && len(m.rows) >= memoryRows {
		m.whole = m.whole && r.status == queue.Pending
		return
	}
	m.rows[r.id] = r
}

func (m *memory) drop(id int64) { delete(m.rows, id) }

func (m *memory) clear() {
	clear(m.rows)
	m.whole = true
}
