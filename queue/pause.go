package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pause is a queue from which nobody claims: since when, who paused it and why.
type Pause struct {
	Queue string    `json:"queue"`
	Since time.Time `json:"since"` // the database's clock
	By    string    `json:"by"`
	Why   string    `json:"why"`
}

// Pause stops all claims from these queues, in every process and through restarts,
// until [Queue.Resume]. What is running goes on. Claims of workers that do not use
// this package, or the claim statement of its release, are not stopped. It returns
// the queues that were not paused before, by name; the others keep the pause they had.
// A queue need not have jobs.
func (q *Queue) Pause(ctx context.Context, by, why string, queues ...string) (paused []string, err error) {
	if err := checkQueues(queues); err != nil {
		return nil, fmt.Errorf("pause: %w", err)
	}
	return q.names(ctx, "pause", queues, errorText(by), errorText(why))
}

// Resume ends the pauses of these queues and wakes their workers. It returns those
// that were paused, by name.
func (q *Queue) Resume(ctx context.Context, queues ...string) (resumed []string, err error) {
	if len(queues) == 0 {
		return nil, errors.New("resume: no queues: name at least one")
	}
	for _, name := range queues { // also one that another program paused under a name that we would refuse
		err := checkText("queue", name, nameLimit)
		if name == "" {
			err = CheckName("queue", name)
		}
		if err != nil {
			return nil, fmt.Errorf("resume: %w", err)
		}
	}
	resumed, err = q.names(ctx, "resume", queues)
	for _, name := range resumed {
		q.marks.byQueue.Delete(name) // looks that found nothing in a pause have nothing to tell
	}
	return resumed, err
}

// Pauses returns the queues that are paused, by name.
func (q *Queue) Pauses(ctx context.Context) ([]Pause, error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("pauses"))
	if err != nil {
		return nil, q.failed("list pauses", err, "pauses")
	}
	pauses, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Pause, err error) {
		err = row.Scan(&p.Queue, at(&p.Since), &p.By, &p.Why)
		return p, err
	})
	return pauses, q.failed("list pauses", err, "pauses")
}

// names runs a statement on queues that returns some of their names.
func (q *Queue) names(ctx context.Context, statement string, queues []string, args ...any) ([]string, error) {
	var names []string
	err := q.patiently(ctx, 0, func(ctx context.Context) error {
		names = nil
		return q.namesOnce(ctx, statement, queues, args, &names)
	})
	slices.Sort(names)
	return names, q.failed(statement, err)
}

func (q *Queue) namesOnce(ctx context.Context, statement string, queues []string, args []any, names *[]string) error {
	return q.writePatiently(ctx, statement, append([]any{queues}, args...), func(row pgx.CollectableRow) error {
		var name string
		err := row.Scan(&name)
		*names = append(*names, name)
		return err
	})
}

func checkQueues(queues []string) error {
	if len(queues) == 0 {
		return errors.New("no queues: name at least one")
	}
	for _, name := range queues {
		if err := CheckName("queue", name); err != nil {
			return err
		}
	}
	return nil
}
