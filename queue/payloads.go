package queue

import (
	"bytes"
	"context"
	"encoding/json"
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
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id, nil); err != nil {
			return nil, q.failed("read payloads", err, statement)
		}
		found[id] = bytes.Clone(rows.RawValues()[1]) // text, in either format; copied once, since it may be large
	}
	if err := rows.Err(); err != nil {
		return nil, q.failed("read payloads", err, statement)
	}
	return found, nil
}
