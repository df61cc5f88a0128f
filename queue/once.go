package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Once notes in the caller's transaction that the effect of key is being done,
// and tells whether this is the first time. A lease can run out in mid-work, so
// every job may run twice; an effect in the same database, done only when first
// is true and in the same transaction, happens once. A second transaction with
// the same key waits until the first has ended; at an isolation level above READ
// COMMITTED it may fail with a serialization error (40001) instead. A key has 1 to 1,024
// bytes, belongs to the schema, not to a queue, and is kept until [Queue.Purge].
func (q *Queue) Once(ctx context.Context, tx pgx.Tx, key string) (first bool, err error) {
	tag, err := tx.Exec(ctx, q.schema.Query("once"), key)
	if err != nil {
		return false, q.failed(fmt.Sprintf("once %q", key), err, "once")
	}
	return tag.RowsAffected() == 1, nil
}
