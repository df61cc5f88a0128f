package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Vitals are a few figures by which monitoring tells whether a queue is well.
type Vitals struct {
	At   time.Time // the database's clock
	Dead int64     // dead letters: failed and dead jobs
	Died int64     // those of them that died within Window before At; not those redriven or discarded since
	// Window is how far back Died goes.
	Window time.Duration
	// OldestReady is how long the longest due job has been due, and OldestQueue its queue;
	// 0 and "" when no job is ready.
	OldestReady time.Duration
	OldestQueue string
	// Expired is how many leases ran out Late before At, or earlier, and were taken back by nobody.
	Expired int64
	Late    time.Duration
	// DeadAtLeast, DiedAtLeast and ExpiredAtLeast say that a count reached the cap: it is that or more.
	DeadAtLeast, DiedAtLeast, ExpiredAtLeast bool
}

// VitalsOf says of what [Queue.Vitals] are told.
type VitalsOf struct {
	Queue  string        // "" is all queues together
	Window time.Duration // of Died; 0 is ten minutes
	Late   time.Duration // of Expired; below 0 is 0
	Cap    int           // no count goes further; 0 is 100,000
}

// Vitals reads a few figures for monitoring, in one statement over the partial indexes: in
// a bounded time, however many completed jobs there are.
func (q *Queue) Vitals(ctx context.Context, of VitalsOf) (Vitals, error) {
	if of.Window <= 0 {
		of.Window = 10 * time.Minute
	}
	if of.Cap <= 0 {
		of.Cap = 100_000
	}
	v := Vitals{Window: of.Window, Late: max(of.Late, 0)}
	args := []any{nullable(of.Queue), of.Cap, v.Window.Seconds(), v.Late.Seconds()}
	err := q.planned(ctx, "depth_plan", "vitals", args, func(row pgx.CollectableRow) error {
		var oldest *float64
		var looked int64
		if err := row.Scan(&v.Dead, &v.Died, &oldest, &v.OldestQueue, &v.Expired, &looked, &v.At); err != nil {
			return err
		}
		if oldest != nil {
			v.OldestReady = duration(*oldest)
		}
		reached := func(n int64) bool { return n >= int64(of.Cap) }
		v.DeadAtLeast, v.DiedAtLeast, v.ExpiredAtLeast = reached(v.Dead), reached(v.Died), reached(looked)
		return nil
	})
	return v, q.failed("vitals", err, "vitals")
}
