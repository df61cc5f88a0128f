package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// holder is a session, or a prepared transaction, that has something locked.
type holder struct {
	pid      int64  // 0: a prepared transaction
	prepared string // its name
	app, who string
	since    *float64 // seconds since its transaction began; nil when the role may not know
}

// String names a holder so that it can be found: "pid 123 (psql, app, 3 min)".
func (h *holder) String() string {
	text, known := fmt.Sprintf("pid %d", h.pid), ""
	if h.pid == 0 {
		text = fmt.Sprintf("the prepared transaction %q", h.prepared)
	}
	add := func(s string) {
		if s != "" && known != "" {
			known += ", "
		}
		known += s
	}
	add(h.app)
	add(h.who)
	if h.since != nil {
		add(roughly(seconds(max(*h.since, 0))))
	}
	if known == "" {
		return text
	}
	return text + " (" + known + ")"
}

// roughly is a duration in its largest unit: "3 min".
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// lockersOf names, for each job whose row somebody has locked, who has. A row that
// several have locked at once is missing: see whoLocks.
func (q *Queue) lockersOf(ctx context.Context, statement string, ids []int64) (map[int64]string, error) {
	who := map[int64]string{}
	err := q.writePatiently(ctx, statement, []any{ids}, func(row pgx.CollectableRow) error {
		var h holder
		var id int64
		err := row.Scan(&id, &h.pid, &h.prepared, &h.app, &h.who, &h.since)
		who[id] = h.String()
		return err
	})
	if err != nil {
		return nil, err
	}
	return who, nil
}

// whenEnded is what to do about a lock.
const whenEnded = ": run it again when that has ended"

// nobodyKnown is the reason of a job when it cannot be found out who has it locked.
const nobodyKnown = "locked by another transaction"

// whoLocks says in words who has a job's row locked, as far as can be found out.
func (q *Queue) whoLocks(ctx context.Context, statement string, id int64) string {
	who, err := q.lockersOf(ctx, statement, []int64{id})
	if err == nil && who[id] == "" { // an error: the row is locked by one, or by none any more
		_ = q.writePatiently(ctx, statement+"_several", []any{id}, func(row pgx.CollectableRow) error {
			var h holder
			err := row.Scan(&h.pid, &h.prepared, &h.app, &h.who, &h.since)
			who[id] = h.String()
			return err
		})
	}
	if who[id] == "" {
		return nobodyKnown
	}
	return "locked by " + who[id]
}

// tableHeld is an error that names who has a table of the schema locked, so that nothing
// in it can be changed; nil when nobody has, or that cannot be told.
func (q *Queue) tableHeld(ctx context.Context) error {
	var table string
	var granted bool
	var h holder
	err := q.pool.QueryRow(ctx, q.schema.Query("table_lockers")).Scan(&table, &granted, &h.pid, &h.prepared, &h.app, &h.who, &h.since)
	if err != nil {
		return nil
	}
	return &lockedError{text: tableOf(table, granted, &h) + whenEnded}
}
