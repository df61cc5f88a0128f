package queue

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Stretch says where a [Queue.Scan] begins and how far it goes. The zero value is the
// newest jobs.
type Stretch struct {
	From  *Cursor // jobs beyond this one; nil is from the newest down or, with Up, from the oldest up
	Up    bool    // to newer jobs
	Limit int     // how many to find at most; 0 is 100
	Look  int     // how many to look at at most; 0 is 10,000
}

// Found is what a [Queue.Scan] found, and how far it looked.
type Found struct {
	Jobs []Job // newest first, whichever way the scan went
	// Next is where to go on. There is nothing to be found between From and it but Jobs.
	// It is nil when there is nothing beyond either.
	Next   *Cursor
	Newest int64 // the highest id that was looked at; 0 when nothing was
	Looked int   // how many jobs of the table were looked at; 0 when an index alone told all
}

// scanWide is how many jobs a scan looks at when it looks at their payloads, of which
// each may be large.
const scanWide = 1000

// Scan lists jobs as [Queue.List] does, always by id, in a bounded time: List looks
// until its page is full, which may mean at all of a large table for a filter that
// hardly a job passes. Scan gives up after it looked at so many, and says where to go
// on. Where an index holds the statuses asked for (any but completed), and there are no
// more of them in it than it may look at, they are found wherever they are. A filter that
// looks at payloads has it look at no more than 1,000 jobs.
func (q *Queue) Scan(ctx context.Context, f Filter, s Stretch) (Found, error) {
	if err := f.check(); err != nil {
		return Found{}, fmt.Errorf("scan jobs: %w", err)
	}
	if s.Limit == 0 {
		s.Limit = 100
	}
	if s.Look == 0 {
		s.Look = 10_000
	}
	n, some := f.narrow()
	if !some {
		return Found{}, nil
	}
	if n.wide {
		s.Look = min(s.Look, scanWide)
	}
	if among(n.statuses, Pending, Processing, Failed, Dead) {
		found, few, err := q.scanIndexed(ctx, &n, &s)
		if err != nil {
			return Found{}, q.failed("scan jobs", err, "scan_indexed")
		}
		if few {
			return found, nil
		}
	}
	found, err := q.scanTable(ctx, &n, &s)
	return found, q.failed("scan jobs", err, "scan")
}

// scanIndexed finds jobs by the indexes of their statuses; few is false when there are
// too many of them for that.
func (q *Queue) scanIndexed(ctx context.Context, n *narrow, s *Stretch) (found Found, few bool, err error) {
	above, below := int64(math.MinInt64), int64(math.MaxInt64)
	switch {
	case s.From != nil && s.Up:
		above = s.From.ID
	case s.From != nil:
		below = s.From.ID
	}
	seen, err := q.scan(ctx, "scan_indexed", n.queue(), n.statuses, n.due, n.path, n.wide, above, below, s.Up, s.Limit, s.Look+1)
	if err != nil || len(seen) == 1 && !seen[0].found {
		return Found{}, false, err
	}
	found.take(seen, s)
	return found, true, nil
}

// scanTable finds jobs among those of a stretch of the table.
func (q *Queue) scanTable(ctx context.Context, n *narrow, s *Stretch) (found Found, err error) {
	statement, from := "scan", int64(math.MaxInt64)
	if s.Up {
		statement, from = "scan_up", math.MinInt64
	}
	if s.From != nil {
		from = s.From.ID
	}
	seen, err := q.scan(ctx, statement, n.queue(), n.statuses, n.due, n.path, n.wide, from, s.Limit, s.Look)
	if err != nil || len(seen) == 0 {
		return found, err
	}
	found.take(seen, s)
	last := &seen[len(seen)-1]
	if found.Next == nil && last.more {
		found.Next = &Cursor{ID: last.job.ID}
	}
	found.Looked = int(last.n)
	if s.Up {
		found.Newest = last.job.ID
	} else {
		found.Newest = seen[0].job.ID
	}
	return found, nil
}

// texts is what a parameter can be made of in every mode of pgx.
func texts(statuses []Status) (list []string) {
	for _, s := range statuses {
		list = append(list, string(s))
	}
	return list
}

// seen is a job that a scan looked at.
type seen struct {
	n     int64 // which one it was, of those looked at
	found bool  // it passes the filter
	more  bool  // there is one beyond
	job   Job
}

// scan runs a statement of a scan, planned for what is asked for: the planner must see the
// statuses to use their indexes, and read these in their order.
func (q *Queue) scan(ctx context.Context, statement string, args ...any) (all []seen, err error) {
	err = q.planned(ctx, "depth_plan", statement, args, func(row pgx.CollectableRow) error {
		var s seen
		err := row.Scan(append([]any{&s.n, &s.found, &s.more}, s.job.columns()...)...)
		all = append(all, s)
		return err
	})
	return all, err
}

// take takes what was found, in the order of the scan, up to the limit.
func (f *Found) take(all []seen, s *Stretch) {
	for i := range all {
		switch {
		case !all[i].found:
		case len(f.Jobs) == s.Limit:
			f.Next = &Cursor{ID: f.Jobs[s.Limit-1].ID}
		default:
			f.Jobs = append(f.Jobs, all[i].job)
		}
		if f.Next != nil {
			break
		}
	}
	if s.Up {
		slices.Reverse(f.Jobs)
	}
	if len(f.Jobs) > 0 {
		f.Newest = f.Jobs[0].ID
	}
}
