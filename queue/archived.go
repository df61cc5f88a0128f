package queue

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// GetArchived returns one discarded job, whole. The error wraps [ErrNotFound] when
// the archive has none of this id.
func (q *Queue) GetArchived(ctx context.Context, id int64) (*Archived, error) {
	job, _, err := q.archived(ctx, id, nil)
	return job, err
}

// PreviewArchived is [Queue.Preview] for a discarded job.
func (q *Queue) PreviewArchived(ctx context.Context, id int64, characters int) (job *Archived, length int, err error) {
	return q.archived(ctx, id, &characters)
}

func (q *Queue) archived(ctx context.Context, id int64, characters *int) (*Archived, int, error) {
	var a Archived
	job, length, err := q.get(ctx, "get_archived", id, characters, &a.ArchivedAt, &a.ArchivedBy, &a.ArchivedWhy)
	if err != nil {
		return nil, 0, err
	}
	a.Job = *job
	return &a, length, nil
}

// ArchivedIDs returns every discarded job there is now, of one queue or ("") of all,
// by id. A restore of many acts on this set, fixed at its start.
func (q *Queue) ArchivedIDs(ctx context.Context, queue string) ([]int64, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("archived_ids"), nullable(queue))
	if err != nil {
		return nil, q.failed("list the archive", err, "archived_ids")
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, q.failed("list the archive", err, "archived_ids")
}

// ArchivedPayloads is [Queue.Payloads] for discarded jobs.
func (q *Queue) ArchivedPayloads(ctx context.Context, ids ...int64) (map[int64]json.RawMessage, error) {
	return q.payloads(ctx, "archived_payloads", ids)
}
