package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// Act is one entry of the operator log: what a person did to jobs and queues, or saw of them.
type Act struct {
	ID     int64      `json:"id"`
	At     time.Time  `json:"at"`     // when it began, by the database's clock
	Ended  *time.Time `json:"ended"`  // nil: it is under way, or whoever did it is gone; one of a plan is under way until the plan has ended
	By     string     `json:"by"`     // operating system user and host: "ann@laptop"
	Role   string     `json:"role"`   // of the database
	What   string     `json:"what"`   // redrive, discard, restore, cancel, release, run now, edit, reveal, pause, resume, purge, plan …
	Filter string     `json:"filter"` // what chose the jobs, or the queues' names; "" when they were named by id
	Reason string     `json:"reason"`
	IDs    []int64    `json:"ids"`   // the jobs; the first 100 of them
	Plan   int64      `json:"plan"`  // the redrive plan it belongs to; 0 none
	Asked  int64      `json:"asked"` // how many jobs, or queues, it was about
	Done   int64      `json:"done"`
	Skips  int64      `json:"skips"`
	Error  string     `json:"error"` // why it ended before its end
	Note   string     `json:"note"`  // who ended it before its end, when that is no error

	PlanState PlanState `json:"plan_state"` // of one that has not ended: where its plan is; "" it has none
	Executor  string    `json:"executor"`   // of that plan; "" nobody
}

// loggedIDs is how many ids an entry of the operator log keeps.
const loggedIDs = 100

// Logged does something and enters it in the operator log: before, so that what was
// begun stands there whatever happens, and after, with what came of it. An act that cannot be
// entered is not begun. By, What and what else is known before are taken from a; Asked, when
// it is 0, is the number of IDs. What is done with the context that do is given is done
// under the entry, whose id [EntryOf] tells. The entry is completed also when ctx has ended
// meanwhile. The error is that of do, or of the log.
func (q *Queue) Logged(ctx context.Context, a Act, do func(context.Context) (done, skipped int, err error)) error {
	if a.Asked == 0 {
		a.Asked = int64(len(a.IDs))
	}
	ids := append([]int64{}, a.IDs[:min(len(a.IDs), loggedIDs)]...)
	e := &entry{patience: patienceOf(ctx)}
	ctx = context.WithValue(ctx, entryKey{}, e)
	err := q.patiently(ctx, 0, func(ctx context.Context) error {
		return q.writePatiently(ctx, "log_act", []any{errorText(a.By), errorText(a.What), errorText(a.Filter), errorText(a.Reason), ids, a.Plan, a.Asked},
			func(row pgx.CollectableRow) error { return row.Scan(&e.id) })
	})
	if silent := (*unanswered)(nil); errors.As(err, &silent) {
		return fmt.Errorf("nothing was done: %w", &unanswered{silent.cause, "that was entered in the operator log"})
	}
	if err != nil {
		return q.failed("nothing was done, since it cannot be entered in the operator log", err)
	}
	done, skipped, failed := do(ctx)
	text := ""
	if failed != nil {
		text = errorText(failed.Error())
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	err = q.patiently(ctx, 0, func(ctx context.Context) error {
		return q.writePatiently(ctx, "log_act_ended", []any{e.id, done, skipped, text}, func(pgx.CollectableRow) error { return nil })
	})
	return errors.Join(failed, q.failed(fmt.Sprintf("complete entry %d of the operator log, whose act has ended", e.id), err))
}

// entryKey is where a context keeps the entry of the operator log that it acts under.
type entryKey struct{}

// entry is what its statements share.
type entry struct {
	id       int64
	patience *patience // for locks
}

// EntryOf returns the id of the entry of the operator log under which something is done
// with ctx; 0 when there is none. See [Queue.Logged].
func EntryOf(ctx context.Context) int64 {
	if e, ok := ctx.Value(entryKey{}).(*entry); ok {
		return e.id
	}
	return 0
}

// entryOf is EntryOf for a statement: NULL for none.
func entryOf(ctx context.Context) *int64 {
	if id := EntryOf(ctx); id != 0 {
		return &id
	}
	return nil
}

// Acts returns up to limit entries of the operator log, newest first: those
// with ids below before, which is 0 for the first page.
func (q *Queue) Acts(ctx context.Context, before int64, limit int) ([]Act, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := q.pool.Query(ctx, q.schema.Query("acts"), before, limit)
	if err != nil {
		return nil, q.failed("read the operator log", err, "acts")
	}
	acts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Act, err error) {
		var ids []*int64 // a stranger's may hold NULL
		err = row.Scan(&a.ID, at(&a.At), atOrNull(&a.Ended), &a.By, &a.Role, &a.What, &a.Filter, &a.Reason, &ids, &a.Plan, &a.Asked, &a.Done, &a.Skips, &a.Error, &a.Note, &a.PlanState, &a.Executor)
		a.IDs = make([]int64, 0, len(ids))
		for _, id := range ids {
			if id != nil {
				a.IDs = append(a.IDs, *id)
			}
		}
		return a, err
	})
	return acts, q.failed("read the operator log", err, "acts")
}
