package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// compare tells what happened between the last reading and this one, as far as two
// readings show: a job claimed and ended between them does not. It asks the
// database only what became of leases that are gone.
func (f *Feed) compare(ctx context.Context, p *poller, now map[int64]*row) (story []Event, renewals uint64, err error) {
	before, last := p.held, p.at
	if before == nil {
		return nil, 0, nil
	}
	var b burst
	tellOne := func(e Event, at time.Time) {
		if e.What == Renewed {
			renewals++
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
	for _, id := range slices.Sorted(maps.Keys(now)) {
		old, r := before[id], now[id]
		switch {
		case old != nil && (old.owner != r.owner || !old.expiresAt.Equal(r.expiresAt) || old.cancelledBy != r.cancelledBy):
			tellOne(tell(old, r, r.updatedAt), r.updatedAt)
		case old == nil && (r.lockedAt.After(last) || len(now) < leasesShown): // else only now among the first
			waiting := *r
			waiting.status = queue.Pending
			tellOne(tell(&waiting, r, r.updatedAt), r.updatedAt)
		}
	}
	return b.told(nil), renewals, nil
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

// scanRow reads a row of watch_outcomes.
func scanRow(rows pgx.CollectableRow) (*row, error) {
	var j queue.Job
	var lockedAt, expires, updated queue.Time
	err := rows.Scan(&j.ID, &j.Queue, &j.Kind, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
		&lockedAt, &j.LockedBy, &expires, &updated, &j.CancelledBy)
	r := rowOf(&j)
	r.lockedAt, r.expiresAt, r.updatedAt = lockedAt.Instant(), expires.Instant(), updated.Instant()
	return r, err
}
