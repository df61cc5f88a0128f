package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// Ledger is what the jobs of the demonstration did, of those not forgotten yet.
type Ledger struct {
	Effects int64
	Doubled int64 // effects beyond the first of a job: must be 0
	Lost    int64 // completed jobs without any: must be 0
}

// kept is how long completed jobs and their effects are kept.
const kept = 15 * time.Minute

// pruneBatch bounds what is forgotten in one transaction.
const pruneBatch = 500

// Ledger counts what the jobs did.
func (d *Demo) Ledger(ctx context.Context) (Ledger, error) { return ReadLedger(ctx, d.q) }

// ReadLedger counts what the jobs of a demonstration did, wherever it runs or ran.
func ReadLedger(ctx context.Context, q *queue.Queue) (Ledger, error) {
	var l Ledger
	err := q.Pool().QueryRow(ctx, q.Schema().Query("demo_ledger"), kindNames()).Scan(&l.Effects, &l.Doubled, &l.Lost)
	if err != nil {
		return l, fmt.Errorf("read the demonstration's ledger: %w", err)
	}
	return l, nil
}

// prune forgets what was completed long ago.
func (d *Demo) prune(ctx context.Context) error {
	for {
		tag, err := d.q.Pool().Exec(ctx, d.q.Schema().Query("demo_prune"), kindNames(), kept.Seconds(), pruneBatch)
		if err != nil {
			return fmt.Errorf("forget old jobs of the demonstration: %w", err)
		}
		if tag.RowsAffected() < pruneBatch {
			return nil
		}
	}
}

// did enters the effect of a job, once: in one transaction with the note that it
// is done, so that a second run of the job, after a crash or a lost lease, finds
// the note and does nothing.
func (c *company) did(ctx context.Context, job *queue.Job, effect string) error {
	err := pgx.BeginTxFunc(ctx, c.q.Pool(), pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		first, err := c.q.Once(ctx, tx, "demo:"+strconv.FormatInt(job.ID, 10))
		if err != nil || !first {
			return err
		}
		_, err = tx.Exec(ctx, c.q.Schema().Query("demo_effect"), job.ID, effect, job.Attempts, job.LockedBy)
		return err
	})
	if err != nil {
		return fmt.Errorf("enter the effect: %w", err)
	}
	return nil
}

func kindNames() []string { return slices.Sorted(maps.Keys(kinds)) }
