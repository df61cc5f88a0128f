package watch

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	healthEvery    = 5 * time.Second        // troubles of this kind grow by minutes
	healthSoonest  = 250 * time.Millisecond // between two, when they are asked for
	healthSeldom   = time.Minute            // as long as none succeeds
	healthDeadline = time.Second            // other readings wait meanwhile

	refusedDeadline = healthDeadline / 4 // when it is over, what was known stays

	slotsTold        = 20
	refusedTold      = 20
	transactionsTold = 3 // of this database, and as many of the others
)

// readingHealth makes checkups for as long as the feed goes on. One that fails is told in
// State, and disturbs nothing else.
func (f *Feed) readingHealth(ctx context.Context) {
	failures := 0
	for {
		wait := healthEvery
		if f.opts.Poll < 0 {
			wait = math.MaxInt64 // only when asked by Refresh
		}
		if err := f.readHealth(ctx); err != nil {
			wait = min(healthEvery<<min(failures, 10), healthSeldom)
			failures++
		} else {
			failures = 0
		}
		if !rest(ctx, healthSoonest, nil) || !rest(ctx, wait-healthSoonest, f.healthNow) {
			return
		}
	}
}

// readHealth makes a checkup and puts it into State, or why it could not be made.
func (f *Feed) readHealth(ctx context.Context) error {
	var seen Checkup
	late := false
	err := f.read(ctx, func(ctx context.Context) (err error) {
		return within(ctx, healthDeadline, func(ctx context.Context) error {
			if seen, err = f.checkup(ctx); err != nil {
				return err
			}
			// It reads rows of the table, which somebody may have locked by now.
			err = within(ctx, refusedDeadline, func(ctx context.Context) (err error) {
				seen.Refused, err = f.reader.Refused(ctx, refusedTold)
				return err
			})
			if late = errors.Is(err, errTooLong); err != nil && !late {
				return err
			}
			return f.stillHolds(ctx)
		})
	})
	if ctx.Err() != nil {
		return err
	}
	locked := isCode(err, lockNotAvailable) // the description of the table, and nothing before it
	if locked {
		err = nil
	}
	f.change(func() {
		if locked {
			seen.Parts, seen.PartsOld = f.draft.Health.Parts, true
		}
		if err != nil {
			f.draft.Health.Reason = say(err)
			return
		}
		if late {
			seen.Refused = f.draft.Health.Refused
		}
		seen.Drift = f.draft.Health.Drift
		seen.Rows.Overdue = overdue(f.draft.Health.Rows, &seen)
		f.draft.Health = seen
	})
	return err
}

func isCode(err error, code string) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == code
}

// overdue is since when there have been more dead rows than autovacuum waits for.
func overdue(before Rows, seen *Checkup) time.Time {
	now := seen.Rows
	switch {
	case now.Dead < now.VacuumFrom || now.Standby:
		return time.Time{}
	case before.Overdue.IsZero() || now.Autovacuumed.After(before.Autovacuumed) || now.Vacuumed.After(before.Vacuumed):
		return seen.At
	}
	return before.Overdue
}

// checkup reads all there is to know, in one round trip.
func (f *Feed) checkup(ctx context.Context) (c Checkup, err error) {
	conn, err := f.reader.Pool().Acquire(ctx)
	if err != nil {
		return c, err
	}
	defer conn.Release()
	c.Read = time.Now()
	var batch pgx.Batch
	query := f.q.Schema().Query
	batch.Queue(query("watch_health_limits"))
	batch.Queue(query("watch_health"))
	batch.Queue(query("watch_waiting"))
	batch.Queue(query("watch_transactions"), transactionsTold)
	batch.Queue(query("watch_slots"), f.slots, slotsTold)
	batch.Queue(query("watch_paths"))
	batch.Queue(query("watch_parts")) // the last: it may meet a lock
	results := conn.SendBatch(ctx, &batch)
	defer func() { err = cmp.Or(err, results.Close()) }()
	if _, err = results.Exec(); err != nil {
		return c, err
	}
	if err = c.scanRows(results.QueryRow()); err != nil {
		return c, err
	}
	if err = c.scanWaiting(results.QueryRow()); err != nil {
		return c, err
	}
	if c.Open, err = collect(results, func(row pgx.CollectableRow) (t Transaction, err error) {
		return t, row.Scan(&t.PID, &t.Name, &t.User, &t.Database, &t.Here, &t.State, &t.Began, &t.Writes, &t.Looks)
	}); err != nil {
		return c, err
	}
	if c.Slots, err = collect(results, func(row pgx.CollectableRow) (s Slot, err error) {
		err = row.Scan(&s.Name, &s.Active, &s.PID, &s.Temporary, &s.Held, &s.Status)
		s.Own, s.Feed = strings.HasPrefix(s.Name, f.slots), strings.HasPrefix(s.Name, feedSlots)
		return s, err
	}); err != nil {
		return c, err
	}
	if c.Paths, err = collect(results, pgx.RowToStructByPos[Path]); err != nil {
		return c, err
	}
	c.Parts, err = collect(results, func(row pgx.CollectableRow) (p Part, err error) {
		return p, row.Scan(&p.Kind, &p.Table, &p.Name, &p.Without, &p.State, &p.Made, &p.Lacks)
	})
	return c, err
}

func (c *Checkup) scanRows(row pgx.Row) error {
	var vacuumed, autovacuumed *time.Time
	r := &c.Rows
	err := row.Scan(&c.At, &c.Notifications, &c.Hidden, &r.Standby, &r.Uncounted, &r.ServerOff, &r.TableOff,
		&r.Live, &r.Dead, &r.VacuumFrom, &vacuumed, &autovacuumed, &r.Age, &r.FreezeFrom)
	if errors.Is(err, pgx.ErrNoRows) {
		return errors.New("the jobs table does not exist yet: run `leasetop migrate up`")
	}
	r.Vacuumed, r.Autovacuumed = orZero(vacuumed), orZero(autovacuumed)
	return err
}

func (c *Checkup) scanWaiting(row pgx.Row) error {
	var since, began *time.Time
	t := &c.Waiting.Behind
	err := row.Scan(&c.Waiting.Sessions, &since, &t.PID, &t.Name, &t.User, &t.Database, &t.State, &began, &t.Writes, &t.Looks)
	c.Waiting.Since, t.Began, t.Here = orZero(since), orZero(began), true
	return err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// collect reads all rows of the batch's next statement.
func collect[T any](results pgx.BatchResults, scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}
