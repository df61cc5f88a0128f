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

// Purged is what [Queue.Purge] did.
type Purged struct {
	Deleted int64
	Kept    int64  // how many are old enough and could not be deleted
	First   []Kept // the first hundred of them
}

// Kept is something that a purge could not delete: somebody has it locked, or the server
// refuses to delete it, as when a row of another table refers to it.
type Kept struct {
	Name   string `json:"name"` // the id of the job or plan, or the key
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"` // what the server adds to its reason
}

// Purge deletes for good what has been over for long enough, in short transactions
// with rests between them, in the order of ids; of jobs also what edits of them replaced:
// see [Queue.Originals]. What the server refuses to delete, or somebody has locked, is kept
// and named; the others go. progress, when not nil, is called after each transaction with the number
// deleted so far. It can be called off at any time by ctx, which lets the transaction
// under way finish; what is deleted stays deleted, and another call goes on with the rest.
func (q *Queue) Purge(ctx context.Context, p Purge, progress func(deleted int64)) (Purged, error) {
	last, err := p.start()
	if err != nil {
		return Purged{}, fmt.Errorf("purge: %w", err)
	}
	g := purging{q: q, p: p, last: last, size: purgeBatch, patience: patienceOf(ctx), originals: p.What != PurgeOnce && p.What != PurgePlans}
	if g.originals {
		err := q.patiently(ctx, 0, func(ctx context.Context) error {
			return q.writePatiently(ctx, "forget_originals", []any{[]int64{}}, func(pgx.CollectableRow) error { return nil })
		})
		switch {
		case err == nil:
		case errors.Is(q.failed("", err), ErrSchemaOld): // nor can there be any
			g.originals = false
		default: // before anything is deleted
			return Purged{}, q.failed("purge "+string(p.What), err, "forget_originals")
		}
	}
	for {
		began := time.Now()
		over, err := g.batch(ctx)
		if err != nil {
			return g.done, q.failed("purge "+string(p.What), err)
		}
		if progress != nil {
			progress(g.done.Deleted)
		}
		if over {
			return g.done, nil
		}
		rest := time.NewTimer(min(purgeRest*time.Since(began), purgeRestMax))
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return g.done, q.failed("purge "+string(p.What), ctx.Err())
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
