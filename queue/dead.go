package queue

import (
	"context"
	"errors"
	"time"

	"github.com/leasetop/leasetop/queue/filter"
)

// DeadStretch is a part of the list of dead letters, newest death first.
type DeadStretch struct {
	From  *Cursor // behind the dead letter where a stretch before ended; nil from the newest
	Limit int     // rows at most; 0 is 100
	Look  int     // dead letters to look at at most; 0 is 10,000
}

// DeadFound is what was found in a stretch.
type DeadFound struct {
	Jobs    []Job      // without payloads and histories
	Next    *Cursor    // where to go on; nil when there is nothing beyond
	Looked  int        // how many dead letters were looked at
	Through *time.Time // when the last of them died; nil when none was looked at
}

// DeadLetters lists the dead letters that pass a filter, in a bounded time: it gives up
// after it looked at so many, and says where to go on.
func (q *Queue) DeadLetters(ctx context.Context, where filter.Filter, s DeadStretch) (DeadFound, error) {
	return DeadFound{}, errors.ErrUnsupported
}

// Matching returns the ids of all jobs that pass a filter, of dead letters oldest death
// first, else by id: the set of an act on many, fixed from then on. It reads in short statements, and
// tells after each how many it found and looked at; told may be nil. When ctx ends, so
// does it.
func (q *Queue) Matching(ctx context.Context, f Filter, told func(found, looked int)) ([]int64, error) {
	return nil, errors.ErrUnsupported
}
