package queue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Reclaimed is a job whose lease ran out and was taken back.
type Reclaimed struct {
	ID       int64
	Queue    string
	Kind     string
	Attempts int
	Status   Status        // Pending, or Dead when the attempts were used up or somebody cancelled it
	Owner    string        // who lost the lease
	Late     time.Duration // how long after expiry, by the database's clock
	// CancelledBy is who had asked for the job to be cancelled; "" nobody.
	CancelledBy string
}

// Reclaim takes back up to limit expired leases of these queues, or of all where none is
// named: jobs with attempts left become pending again in their old place, the others and
// the cancelled dead. Workers everywhere are woken. Fewer than limit: nothing more was expired, or the rest is
// in another reaper's hands. Any number of processes may call it at once; those of
// package workers do, by themselves.
func (q *Queue) Reclaim(ctx context.Context, limit int, queues ...string) ([]Reclaimed, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("reclaim: a limit of %d: it must be at least 1", limit)
	}
	var out []Reclaimed
	err := q.write(ctx, "reclaim", []any{limit, orAll(queues)}, func(row pgx.CollectableRow) error {
		var r Reclaimed
		var late float64
		if err := row.Scan(&r.ID, &r.Queue, &r.Kind, &r.Attempts, &r.Status, &r.Owner, &late, &r.CancelledBy); err != nil {
			return err
		}
		r.Late = max(duration(late), 0)
		out = append(out, r)
		return nil
	})
	if err != nil {
		return nil, q.failed("reclaim", err)
	}
	woken := map[string]bool{}
	for _, r := range out {
		q.Forget(r.Queue) // a reclaimed job keeps its run_at: it stands before the mark
		woken[r.Queue] = woken[r.Queue] || r.Status == Pending
	}
	maps.DeleteFunc(woken, func(_ string, pending bool) bool { return !pending })
	// The jobs are back whether or not this succeeds; other processes would find them by polling.
	_ = q.Wake(ctx, slices.Sorted(maps.Keys(woken))...)
	return out, nil
}

// NextExpiry tells how long it is until the earliest lease of these queues runs out, or of
// all where none is named, by the database's clock; ok is false when nothing is in
// processing. Zero or less: one has run out.
func (q *Queue) NextExpiry(ctx context.Context, queues ...string) (in time.Duration, ok bool, err error) {
	return q.seconds(ctx, "next expiry", "next_expiry", orAll(queues))
}

// ExpiryToCome tells how long it is until the earliest lease runs out among those of these
// queues, or of all where none is named, that have not, by the database's clock; ok is false
// when there is none. It is for whoever found that the expired ones are locked.
func (q *Queue) ExpiryToCome(ctx context.Context, queues ...string) (in time.Duration, ok bool, err error) {
	return q.seconds(ctx, "expiry to come", "expiry_to_come", orAll(queues))
}

// orAll has no queues stand for all, which the statements call NULL.
func orAll(queues []string) []string {
	if len(queues) == 0 {
		return nil
	}
	return queues
}
