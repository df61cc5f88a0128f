package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Edit is a new payload for a job that waits or is a dead letter.
type Edit struct {
	ID      int64
	Was     json.RawMessage // the payload that the editor began with, as PostgreSQL printed it: another one since is not overwritten
	Payload json.RawMessage // the new one; numbers are kept as they are written
	Reason  string
	Redrive bool // and bring it back: it must be a dead letter
}

// ErrEdited says that somebody else changed the payload, or claimed the job, meanwhile.
// Nothing was written.
var ErrEdited = errors.New("changed meanwhile")

// EditPayload replaces a job's payload and keeps the original: see [Queue.Originals].
func (q *Queue) EditPayload(ctx context.Context, by string, e Edit) error {
	return errors.ErrUnsupported
}

// Original is a payload that an edit replaced.
type Original struct {
	At      time.Time       `json:"at"` // when it was replaced, by the database's clock
	By      string          `json:"by"`
	Reason  string          `json:"reason"`
	Payload json.RawMessage `json:"payload"`
}

// Originals returns the payloads that edits of a job replaced, oldest first.
func (q *Queue) Originals(ctx context.Context, id int64) ([]Original, error) {
	return nil, errors.ErrUnsupported
}

// RunNow makes scheduled jobs due now. A job that is not pending, or due already, is
// skipped. by is noted in the history.
func (q *Queue) RunNow(ctx context.Context, by string, ids ...int64) (Done, error) {
	return Done{}, errors.ErrUnsupported
}

// TakeBack ends the claim of one running job, as it stands under this lease, and makes it
// pending: for owners that are known to be gone, before their lease runs out. Whoever owned
// it is fenced; its handler may go on all the same, so the effect may come twice. The
// error wraps [ErrLeaseLost] when the lease is another's by now.
func (q *Queue) TakeBack(ctx context.Context, by string, lease Lease) error {
	return errors.ErrUnsupported
}

// Waiting says why a pending job is not running, as far as the database knows.
type Waiting struct {
	Due      time.Duration // until it is due; 0 or less when it is
	Never    bool          // it is never due: run_at is infinity
	Paused   *Pause        // of its queue
	Ahead    int64         // how many due jobs of its queue come before it
	Capped   bool          // or more
	Running  int64         // how many jobs of its queue are running
	LastTook *time.Time    // when a job of its queue was last claimed, of those running now; nil: none is
}

// WhyWaiting tells why a pending job is not running. The error wraps [ErrNotFound]
// when it is not pending.
func (q *Queue) WhyWaiting(ctx context.Context, id int64) (Waiting, error) {
	return Waiting{}, errors.ErrUnsupported
}
