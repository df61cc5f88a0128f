package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// PurgeWhat says what a purge deletes.
type PurgeWhat string

// What can be purged. Dead letters cannot: they leave by redrive or discard.
const (
	PurgeCompleted PurgeWhat = "completed" // completed jobs, by the time of their completion
	PurgeArchive   PurgeWhat = "archive"   // discarded jobs, by the time they were discarded
	PurgeOnce      PurgeWhat = "once"      // keys of [Queue.Once], by the time of the effect
	PurgePlans     PurgeWhat = "plans"     // redrive plans and what they know of their jobs, by the time they ended
)

// Purge is what [Queue.Purge] deletes.
type Purge struct {
	What      PurgeWhat
	OlderThan time.Duration // by the database's clock; not negative
	Queue     string        // "" is every queue; keys of Once and plans have none
}

const (
	purgeBatch = 2000
	// purgeRest is how many times its own duration a batch is followed by rest, so
	// that a purge takes a fifth of a core at most and lets vacuum keep up.
	purgeRest    = 4
	purgeRestMax = 2 * time.Second
)

// Purge deletes for good what has been over for long enough, in short transactions
// with rests between them, in the order of ids; of jobs also what edits of them replaced:
// see [Queue.Originals]. progress, when not nil, is called after each with the number
// deleted so far. It can be called off at any time by ctx, which lets the transaction
// under way finish; what is deleted stays deleted, and another call goes on with the rest.
func (q *Queue) Purge(ctx context.Context, p Purge, progress func(deleted int64)) (deleted int64, err error) {
	last, err := p.start()
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	originals := p.What != PurgeOnce && p.What != PurgePlans
	if originals {
		switch _, err := q.pool.Exec(ctx, q.schema.Query("forget_originals"), []int64{}); {
		case err == nil:
		case errors.Is(q.failed("", err), ErrSchemaOld): // nor can there be any
			originals = false
		default: // before anything is deleted
			return 0, q.failed("purge "+string(p.What), err, "forget_originals")
		}
	}
	for {
		began := time.Now()
		var end *string
		err := finishing(ctx, func(ctx context.Context) (err error) {
			var n int64
			if end, n, err = q.purgeBatch(ctx, p, last, originals); err == nil { // else it was not committed
				deleted += n
			}
			return err
		})
		if err != nil {
			return deleted, q.failed("purge "+string(p.What), err)
		}
		if progress != nil {
			progress(deleted)
		}
		if end == nil {
			return deleted, nil
		}
		last = *end
		rest := time.NewTimer(min(purgeRest*time.Since(began), purgeRestMax))
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return deleted, q.failed("purge "+string(p.What), ctx.Err())
		}
	}
}

// start checks a purge and returns what comes before everything it walks over.
func (p *Purge) start() (string, error) {
	switch {
	case p.OlderThan < 0:
		return "", fmt.Errorf("older than %v: it must not be negative", p.OlderThan)
	case p.What == PurgeOnce && p.Queue != "":
		return "", fmt.Errorf("keys of once have no queue: leave %q out", p.Queue)
	case p.What == PurgePlans && p.Queue != "":
		return "", fmt.Errorf("plans have no queue: leave %q out", p.Queue)
	case p.What == PurgeOnce:
		return "", nil
	case p.What == PurgeCompleted, p.What == PurgeArchive, p.What == PurgePlans:
		return strconv.FormatInt(math.MinInt64, 10), nil
	}
	return "", fmt.Errorf("nothing is called %q: use completed, archive, once or plans", p.What)
}

// purgeBatch deletes one batch, with the payloads that edits of those jobs replaced: they
// are as personal as the others.
func (q *Queue) purgeBatch(ctx context.Context, p Purge, after string, originals bool) (last *string, deleted int64, err error) {
	statement := "purge_" + string(p.What)
	err = pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		var gone []int64
		err := tx.QueryRow(ctx, q.schema.Query(statement), after, p.OlderThan.Seconds(), nullable(p.Queue), purgeBatch).Scan(&last, &deleted, &gone)
		if err != nil || !originals || len(gone) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, q.schema.Query("forget_originals"), gone)
		return err
	})
	return last, deleted, q.forbid(err, statement)
}
