package queue

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// KeyHolder returns the live job that holds an idempotency key of a queue; 0 when none
// does. As long as one does, a dead letter with that key is skipped by a redrive.
func (q *Queue) KeyHolder(ctx context.Context, queue, key string) (id int64, err error) {
	if key == "" {
		return 0, nil
	}
	rows, err := q.pool.Query(ctx, q.schema.Query("key_holders"), []string{queue}, []string{key})
	if err != nil {
		return 0, q.failed("look for the holder of an idempotency key", err, "key_holders")
	}
	_, err = pgx.ForEachRow(rows, []any{&queue, &key, &id}, func() error { return nil })
	return id, q.failed("look for the holder of an idempotency key", err, "key_holders")
}
