package watch

import (
	"context"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// compare tells what happened between the last reading and this one, as far as two
// readings show: a job claimed and ended between them does not. It asks the
// database only what became of leases that are gone, and nothing while the stream
// tells it all anyway.
func (f *Feed) compare(ctx context.Context, rows []*row) (story []Event, renewals uint64, err error) {
	var before map[int64]*row
	var last time.Time
	f.note(func() {
		if !f.draft.WAL.OK && f.leases.source != Unknown {
			before, last = maps.Clone(f.leases.held), f.leases.at
		}
	})
	if before == nil {
		return nil, 0, nil
	}
	now := make(map[int64]*row, len(rows))
	for _, r := range rows {
		now[r.id] = r
	}
	var b burst
	tellOne := func(e Event, at time.Time) {
		if e.What == Renewed {
			renewals++
			return
		}
		e.At, e.Source = at, Polled
		b.add(e)
	}
	if gone := ended(before, now); len(gone) > 0 {
		after, err := f.outcomes(ctx, gone)
		if err != nil {
			return nil, 0, err
		}
		for _, id := range gone {
			old := before[id]
			if r := after[id]; r == nil {
				tellOne(event(Deleted, old, old.owner), time.Now().Add(f.State().Clock.Skew))
			} else if r.status != queue.Processing || r.owner != old.owner { // else only no longer among the first
				tellOne(tell(old, r, r.updatedAt), r.updatedAt)
			}
		}
	}
	for _, r := range rows {
		old := before[r.id]
		switch {
		case old != nil && (old.owner != r.owner || !old.expiresAt.Equal(r.expiresAt) || old.cancelledBy != r.cancelledBy):
			tellOne(tell(old, r, r.updatedAt), r.updatedAt)
		case old == nil && (r.lockedAt.After(last) || len(rows) < leasesShown): // else only now among the first
			waiting := *r
			waiting.status = queue.Pending
			tellOne(tell(&waiting, r, r.updatedAt), r.updatedAt)
		}
	}
	return b.told(), renewals, nil
}

func (f *Feed) outcomes(ctx context.Context, ids []int64) (map[int64]*row, error) {
	rows, err := f.reader.Pool().Query(ctx, f.q.Schema().Query("watch_outcomes"), ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanRow)
	byID := make(map[int64]*row, len(list))
	for _, r := range list {
		byID[r.id] = r
	}
	return byID, err
}

// scanRow reads a row of watch_outcomes or watch_seed.
func scanRow(rows pgx.CollectableRow) (*row, error) {
	var j queue.Job
	err := rows.Scan(&j.ID, &j.Queue, &j.Kind, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
		&j.LockedAt, &j.LockedBy, &j.LeaseExpiresAt, &j.UpdatedAt, &j.CancelledBy)
	return rowOf(&j), err
}
