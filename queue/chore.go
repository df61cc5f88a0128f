package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// TakeChore tells whether the caller is to do now what one process should do for
// all, at most once in every so often by the database's clock. name is the chore's, the
// same in all processes. One that dies in the middle costs that round.
func (q *Queue) TakeChore(ctx context.Context, name string, every time.Duration) (mine bool, err error) {
	err = q.write(ctx, "take_chore", []any{name, every.Seconds()}, func(pgx.CollectableRow) error {
		mine = true
		return nil
	})
	return mine, q.failed(fmt.Sprintf("take chore %q", name), err)
}
