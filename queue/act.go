package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// actBatch is how many jobs an operator's act changes in one transaction.
	actBatch = 200
	// finishPatience is how long a transaction under way may take once its caller gave up.
	finishPatience = 2 * time.Second
)

// did reads a row of an act's statement: the job's id, and note, which is called when
// the act has committed.
type did func(pgx.CollectableRow) (id int64, note func(), err error)

// act runs a statement on many jobs, a batch to a transaction. why is asked about each
// job without a row, and answers "" when it was done after all. A job that breaks its
// batch, since the table does not take it as it is, is skipped alone. When ctx ends, what
// is under way is finished and counted, and nothing more begins.
func (q *Queue) act(ctx context.Context, statement string, ids []int64, args []any,
	did did, why func(context.Context, int64) (string, error), skipped *[]Skip,
) error {
	for batch := range slices.Chunk(distinct(ids), actBatch) {
		if err := q.actOnBatch(ctx, statement, batch, args, did, why, skipped); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) actOnBatch(ctx context.Context, statement string, batch []int64, args []any,
	did did, why func(context.Context, int64) (string, error), skipped *[]Skip,
) error {
	var done map[int64]bool
	err := finishing(ctx, func(ctx context.Context) (err error) {
		done, err = q.actOn(ctx, statement, batch, args, did)
		return err
	})
	refusal := notTaken(err)
	switch {
	case refusal != "" && len(batch) == 1:
		*skipped = append(*skipped, Skip{batch[0], refusal})
		return nil
	case refusal != "":
		for one := range slices.Chunk(batch, 1) {
			if err := q.actOnBatch(ctx, statement, one, args, did, why, skipped); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		return q.failed(statement, err)
	}
	for _, id := range batch {
		if done[id] {
			continue
		}
		err := finishing(ctx, func(ctx context.Context) error {
			reason, err := why(ctx, id)
			if err == nil && reason != "" {
				*skipped = append(*skipped, Skip{id, reason})
			}
			return err
		})
		if err != nil {
			return q.failed(fmt.Sprintf("%s job %d", statement, id), err)
		}
	}
	return nil
}

// notTaken says in words that the table does not take a row as it is, as when somebody
// gave it another constraint; "" when that is not what happened.
func notTaken(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return ""
	}
	switch pg.Code[:2] {
	case "22", "23": // data, constraints
		return "PostgreSQL refuses it: " + pg.Message
	}
	return ""
}

// actOn runs the statement of an act in one transaction and returns whom it was done to.
func (q *Queue) actOn(ctx context.Context, statement string, ids []int64, args []any, did did) (map[int64]bool, error) {
	done := map[int64]bool{}
	var notes []func()
	err := q.write(ctx, statement, append([]any{ids}, args...), func(row pgx.CollectableRow) error {
		id, note, err := did(row)
		done[id], notes = true, append(notes, note)
		return err
	})
	if err != nil {
		return nil, err // what the rows said was not committed
	}
	for _, note := range notes {
		note()
	}
	return done, nil
}

// finishing does something short that may outlast ctx by a moment, so that who gives
// up in the middle still learns what was done. It is not begun when ctx has ended.
func finishing(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	return do(ctx)
}

// lasting outlasts ctx, which may have ended already, by a moment.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishPatience, cancel) })
	return longer, func() { stop(); cancel() }
}

// distinct returns ids in their order, each once.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	out := make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
