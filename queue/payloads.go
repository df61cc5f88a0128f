package queue

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// Payloads returns the payloads of these jobs, whole and verbatim as PostgreSQL
// prints jsonb, for exports. A job that does not exist is missing.
func (q *Queue) Payloads(ctx context.Context, ids ...int64) (map[int64]json.RawMessage, error) {
	return q.payloads(ctx, "payloads", ids)
}

func (q *Queue) payloads(ctx context.Context, statement string, ids []int64) (map[int64]json.RawMessage, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query(statement), ids)
	if err != nil {
		return nil, q.failed("read payloads", err, statement)
	}
	found := make(map[int64]json.RawMessage, len(ids))
	var id int64
	var payload string
	if _, err := pgx.ForEachRow(rows, []any{&id, &payload}, func() error {
		found[id] = json.RawMessage(payload)
		return nil
	}); err != nil {
		return nil, q.failed("read payloads", err, statement)
	}
	return found, nil
}
