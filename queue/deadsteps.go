package queue

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// deadPlace is a place in the order of the index of dead letters: by queue, death and id.
type deadPlace struct {
	queue  string
	diedAt any // a time, or the text of an infinite one
	id     int64
}

// died is diedAt as a statement takes it.
func (p *deadPlace) died() any {
	if t, ok := p.diedAt.(time.Time); ok {
		return At(t).pg()
	}
	return p.diedAt
}

// deadSteps are some of the dead letters, side by side in that order.
type deadSteps struct {
	queue    *string // of this one; nil is of all
	from, to deadPlace
	rows     int // how many they were
}

// args are how a statement takes it.
func (s *deadSteps) args() []any {
	queue := s.queue
	if s.from.queue == s.to.queue {
		queue = &s.to.queue // where they end in the index is known by it
	}
	return []any{queue, s.from.queue, s.from.died(), s.from.id, s.to.queue, s.to.died(), s.to.id}
}

// deadAtOnce is how many entries of the index one statement passes over.
const deadAtOnce = 100_000

// deadSteps divides the dead letters there are now, of some queues or (nil) of all, into
// steps of so many. A long reading takes them one by one, or some together: what dies
// meanwhile may be read too, or not, but nothing else is left out or read twice.
func (q *Queue) deadSteps(ctx context.Context, queues []string, step int) (all []deadSteps, err error) {
	if queues == nil {
		return q.stepsOf(ctx, nil, step, nil)
	}
	for i := range queues {
		if all, err = q.stepsOf(ctx, &queues[i], step, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// stepsOf appends the steps of one queue or (nil) of all.
func (q *Queue) stepsOf(ctx context.Context, queue *string, step int, all []deadSteps) ([]deadSteps, error) {
	at := deadPlace{"", "-infinity", math.MinInt64}
	if queue != nil {
		at.queue = *queue
	}
	for {
		count := max(deadAtOnce/step, 1)
		ends, err := q.deadPlaces(ctx, queue, at, step, count)
		if err != nil {
			return nil, err
		}
		for _, end := range ends {
			all = append(all, deadSteps{queue, at, end, step})
			at = end
		}
		if len(ends) == count {
			continue
		}
		rest, err := q.deadPlaces(ctx, queue, at, 1, step)
		if len(rest) > 0 {
			all = append(all, deadSteps{queue, at, rest[len(rest)-1], len(rest)})
		}
		return all, err
	}
}

// deadPlaces are the ends of so many steps.
func (q *Queue) deadPlaces(ctx context.Context, queue *string, after deadPlace, step, count int) (ends []deadPlace, err error) {
	err = q.planned(ctx, "dead_plan", "dead_steps", []any{queue, after.queue, after.died(), after.id, step, count}, func(row pgx.CollectableRow) error {
		var end deadPlace
		var diedAt time.Time
		err := row.Scan(&end.queue, at(&diedAt), &end.id)
		end.diedAt = diedAt
		ends = append(ends, end)
		return err
	})
	return ends, q.failed("read dead letters", err, "dead_steps")
}

// readSteps reads the steps in statements of bounded work, each of some steps that lie side
// by side. told is called after each, with what it had read and how many rows those were.
func (q *Queue) readSteps(ctx context.Context, all []deadSteps, pace stride, read func(*deadSteps) error, told func(looked int)) error {
	for len(all) > 0 {
		var taken deadSteps
		var n int
		err := pace.take(ctx, q.TookTooLong, func(rows int) error {
			taken, n = all[0], 1
			for n < len(all) && all[n].from == taken.to && taken.rows+all[n].rows <= rows {
				taken.to, taken.rows = all[n].to, taken.rows+all[n].rows
				n++
			}
			return read(&taken)
		})
		if err != nil {
			return err
		}
		all = all[n:]
		told(taken.rows)
	}
	return nil
}
