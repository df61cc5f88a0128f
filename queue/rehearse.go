package queue

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Rehearsal is what a redrive of some jobs would do at this moment. Groups, InUse and
// Gone add up to the jobs that were named.
type Rehearsal struct {
	Groups []DeadGroup `json:"groups"` // those that would be redriven by what they died of, the largest first; without bars
	InUse  int64       `json:"in_use"` // would be skipped: a live job has their idempotency key, or one that was named before them has it then
	Gone   int64       `json:"gone"`   // would be skipped: no dead letters, or no jobs at all

	Queues map[string]int64 `json:"queues"` // how many of them are dead letters, by queue
}

// Redriven is how many would be.
func (r Rehearsal) Redriven() (n int64) {
	for _, g := range r.Groups {
		n += g.Count
	}
	return n
}

// rehearseBatch is how many jobs one statement looks at.
const rehearseBatch = 10_000

// Rehearse tells what a redrive of these jobs would do now, and changes nothing. It reads in short
// statements, so that jobs may change between two of them. An id that is named twice counts once.
func (q *Queue) Rehearse(ctx context.Context, ids []int64) (Rehearsal, error) {
	r := Rehearsal{Queues: map[string]int64{}}
	type group struct{ queue, kind, fingerprint string }
	at := map[group]int{}
	ids = distinct(ids)
	keys := takenKeys{}
	for some := range slices.Chunk(ids, rehearseBatch) {
		again, err := keys.take(ctx, q, some)
		if err != nil {
			return Rehearsal{}, q.failed("try a redrive", err, "rehearse_keys")
		}
		rows, err := q.pool.Query(ctx, q.schema.Query("rehearse"), some, again)
		if err != nil {
			return Rehearsal{}, q.failed("try a redrive", err, "rehearse")
		}
		var g DeadGroup
		var inUse int64
		found := int64(0)
		_, err = pgx.ForEachRow(rows, []any{&g.Queue, &g.Kind, &g.Fingerprint, &g.Count, &inUse, (*instant)(&g.First), (*instant)(&g.Last), &g.Sample, &g.Error}, func() error {
			found += g.Count + inUse
			r.InUse += inUse
			r.Queues[g.Queue] += g.Count + inUse
			i, known := at[group{g.Queue, g.Kind, g.Fingerprint}]
			switch {
			case g.Count == 0:
			case !known:
				at[group{g.Queue, g.Kind, g.Fingerprint}] = len(r.Groups)
				r.Groups = append(r.Groups, g)
			default:
				r.Groups[i].join(g)
			}
			return nil
		})
		if err != nil {
			return Rehearsal{}, q.failed("try a redrive", err, "rehearse")
		}
		r.Gone += int64(len(some)) - found
	}
	slices.SortStableFunc(r.Groups, func(a, b DeadGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
	})
	return r, nil
}

// takenKeys are the idempotency keys that jobs named so far would have, each with its queue.
type takenKeys map[[2]string]bool

// take has jobs take their keys in their order, and returns those that come too late.
func (t takenKeys) take(ctx context.Context, q *Queue, ids []int64) (late []int64, err error) {
	rows, err := q.pool.Query(ctx, q.schema.Query("rehearse_keys"), ids)
	if err != nil {
		return nil, err
	}
	var id int64
	late = []int64{} // nil would be NULL
	var key [2]string
	_, err = pgx.ForEachRow(rows, []any{&id, &key[0], &key[1]}, func() error {
		if t[key] {
			late = append(late, id)
		}
		t[key] = true
		return nil
	})
	return late, err
}

// join adds another part of the same group.
func (g *DeadGroup) join(h DeadGroup) {
	g.Count += h.Count
	if h.First.Before(g.First) {
		g.First = h.First
	}
	if h.Last.After(g.Last) {
		g.Last, g.Sample, g.Error = h.Last, h.Sample, h.Error
	}
}
