package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Depths counts the jobs of every queue at one moment.
type Depths struct {
	At     time.Time // the database's clock
	Queues []QueueDepth
	// CompletedExact is that of each of Queues. When it is false, a queue that has
	// nothing but completed jobs, and few, may be missing.
	CompletedExact bool
}

// QueueDepth counts the jobs of one queue by status.
type QueueDepth struct {
	Queue      string
	Ready      int64 // pending and due
	Scheduled  int64 // pending and not due yet
	Processing int64
	Completed  int64
	Failed     int64
	Dead       int64
	// AtLeast says which counts are lower bounds, because they reached the cap.
	AtLeast AtLeast
	// CompletedExact is false when Completed was estimated from a sample of the
	// table's pages: finished jobs are in no index, and counting millions would
	// load the database that is being watched.
	CompletedExact bool
	OldestReady    time.Duration // how long the longest due job has been due; 0 without one
}

// AtLeast marks the counts of a queue that went no further than the cap. Failed and dead
// jobs are counted together, newest first: both are lower bounds, or neither.
type AtLeast struct{ Ready, Scheduled, Processing, Failed, Dead bool }

// Any reports whether any count is a lower bound.
func (a AtLeast) Any() bool { return a != AtLeast{} }

// How much of the table is read to count the completed, in pages of 8 kB.
const (
	quickPages    = 256
	thoroughPages = 16 << 10
)

// Depth counts jobs by queue and status, the queues by name. cap bounds what is read for
// each count, for screens that ask often, however many of the others there are; 0 counts
// to the end and reads more of the table for the completed, of which there may be
// millions: see [QueueDepth].
func (q *Queue) Depth(ctx context.Context, cap int) (Depths, error) {
	var pages int64
	var d Depths
	if err := q.pool.QueryRow(ctx, q.schema.Query("table_pages")).Scan(&pages, &d.At); err != nil {
		return d, q.failed("depth", err, "table_pages")
	}
	read, limit := int64(thoroughPages), (*int)(nil)
	if cap > 0 {
		read, limit = quickPages, &cap
	}
	percent := min(100, 100*float64(read)/float64(max(pages, 1)))
	d.CompletedExact = percent == 100
	err := q.planned(ctx, "depth_plan", "depth", []any{limit, percent}, func(row pgx.CollectableRow) error {
		n := QueueDepth{CompletedExact: d.CompletedExact}
		var oldest *float64
		err := row.Scan(&n.Queue, &n.Ready, &n.Scheduled, &n.Processing, &n.Completed, &n.Failed, &n.Dead, &oldest, &d.At)
		if oldest != nil {
			n.OldestReady = duration(*oldest)
		}
		reached := func(count int64) bool { return cap > 0 && count >= int64(cap) }
		gone := reached(n.Failed + n.Dead)
		n.AtLeast = AtLeast{reached(n.Ready), reached(n.Scheduled), reached(n.Processing), gone, gone}
		d.Queues = append(d.Queues, n)
		return err
	})
	return d, q.failed("depth", err, "depth")
}

// planned reads with a statement that is planned as another one says, in one round trip.
func (q *Queue) planned(ctx context.Context, plan, statement string, args []any, each func(pgx.CollectableRow) error) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return q.transaction(ctx, conn.Conn(), []string{plan}, statement, args, each)
}
