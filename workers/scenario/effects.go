package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Effect is one entry of the ledger: what a job did to the world.
type Effect struct {
	Job     int64
	Attempt int
	Worker  string // whose it is, as the story calls it
	At      time.Time
}

// Effects are the effects of these jobs, the first entered first.
func (s *Stage) Effects(ctx context.Context, jobs ...int64) ([]Effect, error) {
	rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_effects"), s.run, jobs)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Effect, err error) {
		var owner string
		err = row.Scan(&e.Job, &e.Attempt, &owner, &e.At)
		e.Worker = nameOf(owner)
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
