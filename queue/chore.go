package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// TakeChore tells whether the caller is to do now what one process should do for
// all, at most once in every so often by the database's clock. name is the chore's, the
// same in all processes. One that dies in the middle costs that round. Whoever may be at
// it for that long calls [Queue.KeepChore] meanwhile.
func (q *Queue) TakeChore(ctx context.Context, name string, every time.Duration) (mine bool, err error) {
	err = q.write(ctx, "take_chore", []any{name, every.Seconds()}, func(pgx.CollectableRow) error {
		mine = true
		return nil
	})
	return mine, q.failed(fmt.Sprintf("take chore %q", name), err)
}

// KeepChore puts off a chore that the caller took and is still at: nobody else is to
// begin it for so long from now. It is for long chores, called every now and then well
// before the time is over.
func (q *Queue) KeepChore(ctx context.Context, name string, every time.Duration) error {
	err := q.write(ctx, "keep_chore", []any{name, every.Seconds()}, func(pgx.CollectableRow) error { return nil })
	return q.failed(fmt.Sprintf("keep chore %q", name), err)
}
