package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// aheadMost is how many jobs are counted to say why one waits.
const aheadMost = 10_000

// Waiting says why a pending job is not running, as far as the database knows.
type Waiting struct {
	Due      time.Duration // until it is due; 0 or less when it is
	Never    bool          // it is never due: run_at is infinity
	Paused   *Pause        // of its queue
	Ahead    int64         // how many due jobs of its queue come before it
	Capped   bool          // or more
	Running  int64         // how many jobs of its queue are running, counted up to 10,000
	LastTook *time.Time    // when a job of its queue was last claimed, of those running now; nil: none is
}

// WhyWaiting tells why a pending job is not running. It counts no more than 10,000 jobs. The
// error wraps [ErrNotFound] when it is not pending.
func (q *Queue) WhyWaiting(ctx context.Context, id int64) (Waiting, error) {
	operation := fmt.Sprintf("why job %d waits", id)
	var w Waiting
	var due *float64
	var pause Pause
	var since *time.Time
	err := q.pool.QueryRow(ctx, q.schema.Query("why_waiting"), id, aheadMost).Scan(
		&due, &w.Never, &pause.Queue, atOrNull(&since), &pause.By, &pause.Why, &w.Ahead, &w.Running, &w.LastTook)
	if errors.Is(err, pgx.ErrNoRows) {
		return Waiting{}, fmt.Errorf("%s: it is not pending: %w", operation, ErrNotFound)
	}
	if err != nil {
		return Waiting{}, q.failed(operation, err, "why_waiting")
	}
	if due != nil { // a time.Duration holds 292 years, and PostgreSQL knows dates beyond
		w.Due = time.Duration(max(min(*due, (math.MaxInt64/1e9)-1), -(math.MaxInt64/1e9)+1) * 1e9)
	}
	if since != nil {
		pause.Since = *since
		w.Paused = &pause
	}
	w.Capped = w.Ahead == aheadMost
	return w, nil
}
