package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	reconcileLook     = 15 * time.Second // between two looks whether one is due
	reconcileFirst    = time.Minute      // after the stream attached
	reconcileEvery    = 15 * time.Minute
	reconcileMost     = 200_000 // jobs that it compares by itself
	reconcileDeadline = 2 * time.Minute
)

// ErrNotStreaming says that there is no stream whose figures could be compared.
var ErrNotStreaming = errors.New("the counts do not come from the stream now")

// ErrReconciling says that a comparison is under way already.
var ErrReconciling = errors.New("a comparison is under way")

// errEmptied says that the snapshot to compare with was lost: TRUNCATE takes from every
// snapshot what it had.
var errEmptied = errors.New("the table was emptied or rewritten meanwhile: try again")

// errDrift ends a stream whose counts were not those of the table.
var errDrift = errors.New("its counts were not those of the table: everything is read again")

// Reconcile compares the counts that the stream keeps, and what it knows of each job,
// with the table, at one point of the write-ahead log, and puts the result into
// State.Health. A difference has the stream attach again. It reads every job that is not
// completed once, in chunks, and needs a replication slot of its own meanwhile. The
// error wraps [ErrNotStreaming] or [ErrReconciling], or says what the database refused.
func (f *Feed) Reconcile(ctx context.Context) (Drift, error) {
	now := f.current.Load()
	if now == nil {
		return Drift{}, ErrNotStreaming
	}
	t := newTrail(now)
	if !f.trail.CompareAndSwap(nil, t) {
		return Drift{}, ErrReconciling
	}
	defer f.trail.Store(nil)
	var off, jobs int64
	err := within(ctx, reconcileDeadline, func(ctx context.Context) (err error) {
		off, jobs, err = f.compareAll(ctx, t)
		return err
	})
	var drift Drift
	f.change(func() {
		drift = f.draft.Health.Drift
		if err != nil {
			drift.Reason, _ = walReason(err, f.q.ConnConfig().User)
		} else {
			drift = Drift{Checked: time.Now(), Jobs: jobs, Off: off}
		}
		f.draft.Health.Drift = drift
	})
	if err != nil {
		return drift, fmt.Errorf("compare the counts with the table: %w", err)
	}
	if off > 0 {
		f.abandon(errDrift)
	}
	return drift, nil
}

// compareAll returns how many figures differ, of how many jobs.
func (f *Feed) compareAll(ctx context.Context, t *trail) (off, jobs int64, err error) {
	conn, err := f.replication(ctx, "reconcile")
	if err != nil {
		return 0, 0, err
	}
	defer hangUp(conn)
	file, err := f.file(ctx, conn)
	if err != nil {
		return 0, 0, err
	}
	slot, err := f.newSlot(ctx, conn)
	if err != nil {
		return 0, 0, err
	}
	point, err := pglogrepl.ParseLSN(slot.ConsistentPoint)
	if err != nil {
		return 0, 0, err
	}
	t.ask(point)
	var table comparing
	if err := f.readAll(ctx, conn, slot.SnapshotName, file, &table); err != nil {
		return 0, 0, err
	}
	select {
	case <-t.found:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	return t.answer.off(table.digest), table.jobs(), t.err
}

// readAll gives a sink what a slot's snapshot holds. The slot's connection has served its
// purpose once the snapshot is imported.
func (f *Feed) readAll(ctx context.Context, conn *pgconn.PgConn, snapshot, file string, to sink) error {
	i, err := f.imports(ctx, snapshot, file)
	if err != nil {
		return err
	}
	defer i.close()
	hangUp(conn)
	return i.read(ctx, to)
}

// file is which file holds the table.
func (f *Feed) file(ctx context.Context, conn *pgconn.PgConn) (string, error) {
	results, err := conn.Exec(ctx, f.q.Schema().Query("watch_filenode")).ReadAll()
	if err != nil {
		return "", err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return "", errors.New("the server did not answer which file holds the table")
	}
	return string(results[0].Rows[0][0]), nil
}

// reconciling compares now and then by itself, where that is not much to read.
func (f *Feed) reconciling(ctx context.Context) {
	var tried time.Time
	for rest(ctx, pause(7, reconcileLook), nil) {
		due := false
		f.note(func() {
			jobs := int64(0)
			for _, d := range f.draft.Depths.Queues {
				jobs += d.Ready + d.Scheduled + d.Processing + d.Failed + d.Dead
			}
			next := f.draft.WAL.Since.Add(reconcileFirst)
			if tried.After(f.draft.WAL.Since) {
				next = tried.Add(reconcileEvery)
			}
			due = f.draft.Depths.Source == FromWAL && jobs <= reconcileMost && !time.Now().Before(next)
		})
		if due {
			tried = time.Now()
			_, _ = f.Reconcile(ctx) // State.Health says how it went
		}
	}
}
