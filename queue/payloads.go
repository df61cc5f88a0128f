package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
)

// payloadsAtOnce is how many bytes of payloads, as the table stores them, are asked for at a
// time. It may compress them, a hundredfold at most.
const payloadsAtOnce = 1 << 20

// Payload is the payload of one job.
type Payload struct {
	ID   int64
	JSON json.RawMessage // verbatim as PostgreSQL prints jsonb; cut it may be no JSON any more
}

// Payloads returns the payloads of these jobs in their order, for exports: whole, or with most
// above 0 so many characters of each. A job that does not exist is left out. Large
// ones are read one after the other, while the loop goes on, and no connection is held by its
// body; an error ends it.
func (q *Queue) Payloads(ctx context.Context, most int, ids ...int64) iter.Seq2[Payload, error] {
	return q.payloads(ctx, "payloads", most, ids)
}

func (q *Queue) payloads(ctx context.Context, statement string, most int, ids []int64) iter.Seq2[Payload, error] {
	return func(yield func(Payload, error) bool) {
		for left := ids; len(left) > 0; {
			found, err := q.somePayloads(ctx, statement, most, left)
			if err != nil {
				yield(Payload{}, q.failed("read payloads", err, statement))
				return
			}
			if len(found) == 0 {
				return
			}
			next := 0
			for i := range found {
				for left[next] != found[i].ID {
					next++
				}
				next++
				if !yield(found[i], nil) {
					return
				}
				found[i].JSON = nil // a large one is not kept while the others are looked at
			}
			left = left[next:]
		}
	}
}

// somePayloads returns the payloads of the first of these jobs, as many as are read at once.
func (q *Queue) somePayloads(ctx context.Context, statement string, most int, ids []int64) ([]Payload, error) {
	var characters *int
	if most > 0 {
		characters = &most
	}
	rows, err := q.pool.Query(ctx, q.schema.Query(statement), ids, characters, payloadsAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Payload
	for rows.Next() {
		var p Payload
		if err := rows.Scan(&p.ID, nil); err != nil {
			return nil, err
		}
		p.JSON = bytes.Clone(rows.RawValues()[1]) // text, in either format; copied once, since it may be large
		found = append(found, p)
	}
	return found, rows.Err()
}
