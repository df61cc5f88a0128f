package queue

import (
	"context"
	"math"
	"time"

	"github.com/leasetop/leasetop/queue/filter"
)

// DeadStretch is a part of the list of dead letters, newest death first. The zero value
// is its beginning.
type DeadStretch struct {
	Queue string  // of this one; "" is every queue
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

// deadPatience is how long dead letters are looked at.
const deadPatience = time.Second

// DeadLetters lists the dead letters that pass a filter, in a bounded time: it gives up
// after it looked at so many, or for a second, and says where to go on.
func (q *Queue) DeadLetters(ctx context.Context, where filter.Filter, s DeadStretch) (DeadFound, error) {
	if s.Look == 0 {
		s.Look = 10_000
	}
	return q.deadLetters(ctx, Filter{Queue: s.Queue, Statuses: DeadLetters, Where: where}, s, deadPatience)
}

func (q *Queue) deadLetters(ctx context.Context, f Filter, s DeadStretch, patience time.Duration) (found DeadFound, err error) {
	if s.Limit == 0 {
		s.Limit = 100
	}
	n, some := f.narrow()
	if !some {
		return found, nil
	}
	found.Next = s.From
	step := strideFor(&n)
	step.rows = min(step.rows, 2000, s.Look) // most filters find a page among these
	if n.path == nil {
		step.rows = s.Limit + 1
	}
	for began := time.Now(); ; {
		diedAt, id := any("infinity"), int64(math.MaxInt64)
		if found.Next != nil {
			diedAt, id = At(*found.Next.DiedAt).pg(), found.Next.ID
		}
		var all []seen
		err := step.take(ctx, q.TookTooLong, func(rows int) (err error) {
			all, err = q.scan(ctx, "list_dead", n.queues, diedAt, id, n.path, n.wide, s.Limit-len(found.Jobs), min(rows, s.Look-found.Looked))
			return err
		})
		if err != nil {
			return DeadFound{}, q.failed("list dead letters", err, "list_dead")
		}
		full := found.take(all, s.Limit)
		if full || found.Next == nil || found.Looked >= s.Look || time.Since(began) > patience {
			return found, nil
		}
	}
}

// take takes what was found by one statement, up to the limit, and tells whether that is
// reached.
func (f *DeadFound) take(all []seen, limit int) (full bool) {
	f.Next = nil
	for i := range all {
		s := &all[i]
		if s.found && len(f.Jobs) == limit {
			s = &all[i-1] // it is there, and begins the next stretch
			f.Looked += int(s.n)
			f.Next, f.Through = cursorOf(&s.job), s.job.DiedAt
			return true
		}
		if s.found {
			f.Jobs = append(f.Jobs, s.job)
		}
	}
	if len(all) > 0 {
		last := &all[len(all)-1]
		f.Looked += int(last.n)
		f.Through = last.job.DiedAt
		if last.more {
			f.Next = cursorOf(&last.job)
		}
	}
	return len(f.Jobs) == limit
}

func cursorOf(j *Job) *Cursor { return &Cursor{ID: j.ID, DiedAt: j.DiedAt} }
