package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// How many jobs one question looks at: so many that a table of millions is read in a
// hundred of them, fewer where that takes long.
const (
	lookMost  = 50_000 // 50 ms where the table is in memory
	lookLeast = 500
	lookFor   = 200 * time.Millisecond
)

// jobsReader reads the table of jobs; *queue.Queue is one.
type jobsReader interface {
	operatorLog
	Scan(ctx context.Context, f queue.Filter, s queue.Stretch) (queue.Found, error)
	DeadLetters(ctx context.Context, where filter.Filter, s queue.DeadStretch) (queue.DeadFound, error)
	ByID(ctx context.Context, ids ...int64) ([]queue.Job, error)
	Payloads(ctx context.Context, most int, ids ...int64) iter.Seq2[queue.Payload, error]
}

// nextJobs is [listing].next before the jobs are made ready to be printed.
type nextJobs func(ctx context.Context, most int) ([]queue.Job, reached, error)

// byDeath tells whether dead letters of both kinds, and nothing else, are asked for: the
// only choice whose order is not that of the ids.
func byDeath(f queue.Filter) bool {
	asked := f.Statuses
	if len(asked) == 0 {
		for _, s := range f.Where.Statuses() {
			asked = append(asked, queue.Status(s))
		}
	}
	return slices.Contains(asked, queue.Failed) && slices.Contains(asked, queue.Dead) &&
		!slices.ContainsFunc(asked, func(s queue.Status) bool { return !s.IsDeadLetter() })
}

// deaths lists dead letters, newest death first, after one of them. An index has them in
// this order, so that without a filter a page is read without a look at anything else.
func deaths(q jobsReader, f queue.Filter, before int64) nextJobs {
	var far reached
	stretch := queue.DeadStretch{Queue: f.Queue}
	return func(ctx context.Context, limit int) ([]queue.Job, reached, error) {
		if before != 0 && stretch.From == nil {
			last, err := q.ByID(ctx, before)
			switch {
			case err != nil:
				return nil, far, err
			case len(last) == 0 || !last[0].Status.IsDeadLetter():
				return nil, far, fmt.Errorf("job %d is no dead letter, or no more, and failed and dead together are listed by their deaths: name another after --before", before)
			}
			stretch.From = &queue.Cursor{ID: before, DiedAt: last[0].DiedAt}
		}
		stretch.Limit = limit
		found, err := q.DeadLetters(ctx, f.Where, stretch)
		if err != nil {
			return nil, far, err
		}
		if !f.Where.Empty() {
			far.looked += found.Looked
		}
		if far.more = found.Next != nil; far.more {
			stretch.From, far.id = found.Next, found.Next.ID
		}
		return found.Jobs, far, nil
	}
}

// byID lists jobs, newest id first, below one of them. However few there are, no question
// looks at more than so many jobs of the table.
func byID(q jobsReader, f queue.Filter, before int64) nextJobs {
	far := reached{more: true}
	stretch, most := queue.Stretch{Look: lookMost}, lookMost
	if before != 0 {
		stretch.From = &queue.Cursor{ID: before}
	}
	return func(ctx context.Context, limit int) ([]queue.Job, reached, error) {
		began := time.Now()
		stretch.Limit = limit
		found, err := q.Scan(ctx, f, stretch)
		switch took := time.Since(began); {
		case err != nil && ctx.Err() == nil && errors.Is(err, queue.ErrStatementTimeout) && stretch.Look > lookLeast:
			stretch.Look = max(stretch.Look/4, lookLeast)
			most = stretch.Look
			return nil, far, nil
		case err != nil:
			return nil, far, err
		case took > lookFor:
			stretch.Look = max(stretch.Look/2, lookLeast)
		case took < lookFor/4:
			stretch.Look = min(stretch.Look*2, most)
		}
		far.looked += found.Looked
		stretch.From, far.more = found.Next, found.Next != nil
		if far.more {
			far.id = found.Next.ID
		}
		return found.Jobs, far, nil
	}
}
