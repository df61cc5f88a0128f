package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// actBatch is how many jobs an operator's act changes in one transaction.
	actBatch = 200
	// finishPatience is how long a transaction under way may take once its caller gave up.
	finishPatience = 2 * time.Second
)

// act runs a statement on many jobs, a batch to a transaction. did is called for
// each row and returns the job's id; why is asked about each job without a row, and
// answers "" when it was done after all. When ctx ends, what is under way is finished
// and counted, and nothing more begins.
func (q *Queue) act(ctx context.Context, statement string, ids []int64, args []any,
	did func(pgx.CollectableRow) (int64, error), why func(context.Context, int64) (string, error), skipped *[]Skip,
) error {
	for batch := range slices.Chunk(distinct(ids), actBatch) {
		done := map[int64]bool{}
		err := finishing(ctx, func(ctx context.Context) error {
			return q.write(ctx, statement, append([]any{batch}, args...), func(row pgx.CollectableRow) error {
				id, err := did(row)
				done[id] = true
				return err
			})
		})
		if err != nil {
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
	}
	return nil
}

// finishing does something short that may outlast ctx by a moment, so that who gives
// up in the middle still learns what was done. It is not begun when ctx has ended.
func finishing(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishPatience, cancel) })()
	return do(lasting)
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
