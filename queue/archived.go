package queue

import (
	"context"
	"fmt"
	"iter"

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
	job, length, err := q.get(ctx, "get_archived", id, characters, at(&a.ArchivedAt), &a.ArchivedBy, &a.ArchivedWhy)
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

// ArchivedByAct returns the discarded jobs that one act of the operator log discarded and
// that are in the archive still, by id: what to restore to take exactly that back. There
// are none when the act was no discard.
func (q *Queue) ArchivedByAct(ctx context.Context, act int64) ([]int64, error) {
	operation := fmt.Sprintf("find what act %d discarded", act)
	rows, err := q.pool.Query(ctx, q.schema.Query("archived_by_act"), act)
	if err != nil {
		return nil, q.failed(operation, err, "archived_by_act")
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, q.failed(operation, err, "archived_by_act")
}

// ArchivedPayloads is [Queue.Payloads] for discarded jobs.
func (q *Queue) ArchivedPayloads(ctx context.Context, most int, ids ...int64) iter.Seq2[Payload, error] {
	return q.payloads(ctx, "archived_payloads", most, ids)
}
