package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Matching returns the ids of all jobs that pass a filter, of dead letters oldest death
// first, else by id: the set of an act on many, fixed from then on. It reads in short
// statements, and tells after each how many it found and looked at; told may be nil. When
// ctx ends, so does it.
func (q *Queue) Matching(ctx context.Context, f Filter, told func(found, looked int)) ([]int64, error) {
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("find jobs: %w", err)
	}
	if told == nil {
		told = func(int, int) {}
	}
	n, some := f.narrow()
	switch {
	case !some:
		return nil, nil
	case among(n.statuses, DeadLetters...):
		return q.matchingDead(ctx, &n, told)
	}
	return q.matchingByID(ctx, f, &n, told)
}

// death is a dead letter in the order of deaths.
type death struct{ at, id int64 }

func (q *Queue) matchingDead(ctx context.Context, n *narrow, told func(found, looked int)) ([]int64, error) {
	pace := strideFor(n)
	steps, err := q.deadSteps(ctx, n.queues, stepFor(n))
	if err != nil {
		return nil, err
	}
	statuses := n.statuses
	if len(statuses) == len(DeadLetters) {
		statuses = nil
	}
	var all []death
	looked := 0
	err = q.readSteps(ctx, steps, pace, func(s *deadSteps) error {
		some := len(all)
		err := q.planned(ctx, "dead_plan", "dead_matching", append(s.args(), statuses, n.path, n.wide), func(row pgx.CollectableRow) error {
			var died time.Time
			var id int64
			err := row.Scan(at(&died), &id)
			all = append(all, death{died.UnixMicro(), id})
			return err
		})
		if err != nil {
			all = all[:some]
		}
		return err
	}, func(rows int) {
		looked += rows
		told(len(all), looked)
	})
	if err != nil {
		return nil, q.failed("find dead letters", err, "dead_matching")
	}
	slices.SortFunc(all, func(a, b death) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	return distinct(ids), nil // one that came back and died again meanwhile was read twice
}

// stepFor is how many dead letters at least one statement under the filter looks at.
func stepFor(n *narrow) int {
	if n.wide {
		return 20
	}
	return 1000
}

func (q *Queue) matchingByID(ctx context.Context, f Filter, n *narrow, told func(found, looked int)) (ids []int64, err error) {
	pace := strideFor(n)
	looked := 0
	for s := (Stretch{Up: true}); ; {
		var found Found
		err := pace.take(ctx, q.TookTooLong, func(rows int) (err error) {
			s.Limit, s.Look = rows, rows
			found, err = q.Scan(ctx, f, s)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range found.Jobs {
			ids = append(ids, found.Jobs[len(found.Jobs)-1-i].ID)
		}
		looked += max(found.Looked, len(found.Jobs))
		told(len(ids), looked)
		if s.From = found.Next; s.From == nil {
			return ids, nil
		}
	}
}
