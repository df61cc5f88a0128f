package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Edit is a new payload for a job that waits or is a dead letter.
type Edit struct {
	ID      int64
	Was     json.RawMessage // the payload that the editor began with, as PostgreSQL printed it: another one since is not overwritten
	Payload json.RawMessage // the new one; numbers are kept as they are written
	Reason  string
	Redrive bool // and bring it back: it must be a dead letter
}

// ErrEdited says that somebody else changed the payload, or claimed or redrove the job,
// meanwhile. Nothing was written.
var ErrEdited = errors.New("changed meanwhile")

// EditPayload replaces a job's payload and keeps the original: see [Queue.Originals].
// Edit and redrive are one transaction, both or neither. by is noted in the history. A
// dead letter keeps the time of its death, unless it is redriven; a payload that is the
// same already is left as it is, and changed false. What cannot be stored is refused with the cure. The error
// wraps [ErrEdited] when the payload is not e.Was any more, or the job is not
// pending or a dead letter, or with Redrive no dead letter; [ErrNotFound] when it is not in the table;
// [ErrLocked] when another transaction has the job locked and keeps it so for seconds, and
// [ErrRowRefused] when the server refuses to change its row.
func (q *Queue) EditPayload(ctx context.Context, by string, e Edit) (changed bool, err error) {
	operation := fmt.Sprintf("edit job %d", e.ID)
	for _, payload := range []json.RawMessage{e.Was, e.Payload} {
		if err := checkPayload(payload); err != nil {
			return false, fmt.Errorf("%s: %w", operation, err)
		}
	}
	var woken []string
	err = q.patiently(ctx, e.ID, func(ctx context.Context) error {
		return q.patientTx(ctx, func(tx pgx.Tx) (err error) {
			changed, woken, err = q.editTx(ctx, tx, errorText(by), e)
			return err
		})
	})
	refusal, refused := refusalOf(e.ID, "edit", err)
	switch {
	case err == nil:
		_ = q.Wake(ctx, woken...) // polling covers a failure
		return changed, nil
	case errors.Is(err, ErrEdited): // nothing was written, so what is there now may be read at leisure
		return false, q.whyNotEdited(ctx, operation, e)
	case holdsKey(err):
		reason, failed := q.keyInUse(ctx, e.ID)
		return false, errors.Join(fmt.Errorf("%s: nothing was written, since its %s", operation, reason), failed)
	case refused && explain(err) == err:
		return false, refusal
	}
	return false, q.failed(operation, explain(err))
}

// editTx edits, and redrives when that is wanted too, and returns whether the payload is another
// now, and whose workers to wake.
func (q *Queue) editTx(ctx context.Context, tx pgx.Tx, by string, e Edit) (changed bool, woken []string, err error) {
	one := func(statement string, args, values []any) error {
		err := tx.QueryRow(ctx, q.schema.Query(statement), args...).Scan(values...)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrEdited
		}
		return q.forbid(err, statement)
	}
	if err := one("edit", []any{e.ID, string(e.Was), string(e.Payload), by, errorText(e.Reason)}, []any{nil, &changed}); err != nil || !e.Redrive {
		return changed, nil, err
	}
	var queue string
	err = one("redrive", []any{[]int64{e.ID}, by, true}, []any{nil, &queue})
	return changed, []string{queue}, err
}

// whyNotEdited says what an edit found instead of what it wanted.
func (q *Queue) whyNotEdited(ctx context.Context, operation string, e Edit) error {
	job, length, err := q.Preview(ctx, e.ID, 0)
	switch {
	case errors.Is(err, ErrNotFound):
		where, failed := q.missing(ctx, e.ID)
		if failed != nil || where.Reason == NoSuchJob {
			return errors.Join(fmt.Errorf("%s: %w", operation, ErrNotFound), failed)
		}
		return fmt.Errorf("%s: %s: %w", operation, where.Reason, ErrNotFound)
	case err != nil:
		return err
	case job.Status != Pending && !job.Status.IsDeadLetter():
		return fmt.Errorf("%s: it is %s: %w", operation, job.Status, ErrEdited)
	case e.Redrive && job.Status == Pending:
		return fmt.Errorf("%s: it is no dead letter any more, but pending: %w", operation, ErrEdited)
	}
	if length == utf8.RuneCount(e.Was) { // a payload is read only when it may be the one that was edited
		if job, err := q.Get(ctx, e.ID); err == nil && string(job.Payload) == string(e.Was) {
			return leftAlone(e.ID, "edit")
		}
	}
	return fmt.Errorf("%s: its payload is another by now: %w", operation, ErrEdited)
}

// Original is a payload that an edit replaced.
type Original struct {
	At      time.Time       `json:"at"` // when it was replaced, by the database's clock
	By      string          `json:"by"`
	Reason  string          `json:"reason"`
	Payload json.RawMessage `json:"payload"`
}

// Originals returns the payloads that edits of a job replaced, oldest first. They are
// kept as long as the job is, also in the archive: [Queue.Purge] deletes them with it.
func (q *Queue) Originals(ctx context.Context, id int64) ([]Original, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("originals"), id)
	if err != nil {
		return nil, q.failed(fmt.Sprintf("originals of job %d", id), err, "originals")
	}
	originals, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Original, err error) {
		var payload string
		err = row.Scan(at(&o.At), &o.By, &o.Reason, &payload)
		o.Payload = json.RawMessage(payload)
		return o, err
	})
	return originals, q.failed(fmt.Sprintf("originals of job %d", id), err, "originals")
}
