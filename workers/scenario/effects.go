package scenario

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// Effect is one entry of the ledger: what a job did to the world.
type Effect struct {
	Job     int64
	Attempt int
	Worker  string // whose it is, as the story calls it
}

// Effects are the effects of these jobs, the first entered first.
func (s *Stage) Effects(ctx context.Context, jobs ...int64) ([]Effect, error) {
	rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_effects"), s.run, jobs)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Effect, err error) {
		var owner string
		err = row.Scan(&e.Job, &e.Attempt, &owner)
		e.Worker = NameOf(owner)
		return e, err
	})
}

// OneEffectEach tells whether each of these jobs had one effect, and no job more.
func (s *Stage) OneEffectEach(ctx context.Context, jobs ...int64) (bool, string, error) {
	effects, err := s.Effects(ctx, jobs...)
	if err != nil {
		return false, "", err
	}
	had := map[int64]bool{}
	for _, e := range effects {
		had[e.Job] = true
	}
	return len(effects) == len(jobs) && len(had) == len(jobs), fmt.Sprintf("%d effects of %d jobs", len(effects), len(had)), nil
}

// EffectOnce is Effect under a key of the job's own, in one transaction: another run of the
// job finds the key, enters nothing, and is not the first.
func (c *Crew) EffectOnce(ctx context.Context, job *queue.Job) (first bool, err error) {
	err = pgx.BeginFunc(ctx, c.Queue.Pool(), func(tx pgx.Tx) (err error) {
		first, err = c.Queue.Once(ctx, tx, fmt.Sprintf("%s %d", c.stage.run, job.ID))
		if err != nil || !first {
			return err
		}
		_, err = tx.Exec(ctx, c.Queue.Schema().Query("scenario_effect"), c.stage.run, job.ID, job.Attempts, job.LockedBy)
		return err
	})
	return first && err == nil, err
}
