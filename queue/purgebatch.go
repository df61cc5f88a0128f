package queue

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

const (
	// keptNamed is how many of those that could not be deleted a purge names.
	keptNamed = 100
	// noAge is older, in seconds, than anything is: nothing is deleted, only looked at.
	noAge = 1e10
)

// purging is a purge under way.
type purging struct {
	q         *Queue
	p         Purge
	last      string // everything up to this was looked at
	size      int    // how many rows the next batch looks at
	originals bool   // payloads that edits replaced go with their jobs
	done      Purged
	again     bool // the batch is looked at a second time
	patience  *patience
}

// batch deletes the next batch, and reports whether there was none. A batch that the
// server refuses, since it refuses one row, is tried again with half as many rows, down to
// that row, which is kept.
func (g *purging) batch(ctx context.Context) (over bool, err error) {
	for {
		var end *string
		var left []int64
		err = finishing(ctx, func(ctx context.Context) (err error) {
			var n int64
			if end, n, left, err = g.delete(ctx, g.p.OlderThan.Seconds(), g.size); err == nil { // else it was not committed
				g.done.Deleted += n
			}
			return err
		})
		switch {
		case err == nil:
			return g.passed(ctx, end, left)
		case refusesRow(err) == nil && !locked(err):
			return false, err
		case locked(err) && g.q.tableHeld(ctx) != nil:
			if !g.patience.wait(ctx) {
				return false, errors.Join(ctx.Err(), g.q.tableHeld(ctx))
			}
		case g.size > 1:
			g.size /= 2
		default:
			return false, g.keepNext(ctx, err)
		}
	}
}

// passed goes on behind a batch that was deleted, and names those of it that are still there.
func (g *purging) passed(ctx context.Context, end *string, left []int64) (over bool, err error) {
	if len(left) > 0 {
		who, err := g.q.lockersOf(ctx, g.lockers(), left)
		if err != nil && !locked(err) {
			return false, err
		}
		if free := slices.ContainsFunc(left, func(id int64) bool { return who[id] == "" }); free && !g.again {
			g.again = true // whoever had it locked has let go meanwhile
			return false, nil
		}
		for _, id := range left {
			reason := "locked by " + who[id]
			if who[id] == "" {
				if reason = g.q.whoLocks(ctx, g.lockers(), id); reason == nobodyKnown {
					reason = leftAlone(id, "purge").Reason
				}
			}
			g.keep(Kept{Name: strconv.FormatInt(id, 10), Reason: reason})
		}
	}
	g.again, g.size = false, min(g.size*2, purgeBatch)
	if end == nil {
		return true, nil
	}
	g.last = *end
	return false, nil
}

// keepNext keeps the next row, which the server refuses to delete.
func (g *purging) keepNext(ctx context.Context, refused error) error {
	var end *string
	err := finishing(ctx, func(ctx context.Context) (err error) {
		end, _, _, err = g.delete(ctx, noAge, 1)
		return err
	})
	switch {
	case err != nil:
		return err
	case end == nil: // of plans nobody but this program knows
		return refused
	}
	kept := Kept{Name: *end, Reason: "locked by another transaction"}
	if r, ok := refusalOf(0, "purge", refused); ok {
		kept.Reason, kept.Detail = refuses+r.Reason, r.Detail
	}
	g.keep(kept)
	g.last, g.size = *end, 2
	return nil
}

func (g *purging) keep(k Kept) {
	g.done.Kept++
	if len(g.done.First) < keptNamed {
		g.done.First = append(g.done.First, k)
	}
}

// lockers is the statement that finds who has rows of the table locked.
func (g *purging) lockers() string {
	if g.p.What == PurgeArchive {
		return "lockers_archived"
	}
	return "lockers"
}

// delete deletes one batch, with the payloads that edits of those jobs replaced: they
// are as personal as the others. left are jobs that are old enough and still there.
func (g *purging) delete(ctx context.Context, age float64, rows int) (last *string, deleted int64, left []int64, err error) {
	q, statement := g.q, "purge_"+string(g.p.What)
	err = q.patientTx(ctx, func(tx pgx.Tx) error {
		var gone []int64
		err := tx.QueryRow(ctx, q.schema.Query(statement), g.last, age, nullable(g.p.Queue), rows).Scan(&last, &deleted, &gone, &left)
		if err != nil || !g.originals || len(gone) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, q.schema.Query("forget_originals"), gone)
		return err
	})
	return last, deleted, left, q.forbid(err, statement)
}
