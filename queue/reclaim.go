package queue

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Reclaimed is a job whose lease ran out and was taken back.
type Reclaimed struct {
	ID       int64
	Queue    string
	Kind     string
	Attempts int
	Status   Status        // Pending, or Dead when the attempts were used up or somebody cancelled it
	Owner    string        // who lost the lease
	Late     time.Duration // how long after expiry, by the database's clock
	// CancelledBy is who had asked for the job to be cancelled; "" nobody.
	CancelledBy string
	Refused     bool // the server had refused it to this process before, so Late is not its reaper's
}

// Reclaim takes back up to limit expired leases of these queues, or of all where none is
// named: jobs with attempts left become pending again in their old place, the others and
// the cancelled dead. Workers everywhere are woken. Fewer than limit: nothing more was expired, or the rest is
// in another reaper's hands. Any number of processes may call it at once; those of
// package workers do, by themselves.
//
// A job whose row the server refuses to change is passed over as by [Queue.Claim]. The
// error joins a [Refusal] for each that was met, and the jobs returned are taken back all
// the same.
func (q *Queue) Reclaim(ctx context.Context, limit int, queues ...string) ([]Reclaimed, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("reclaim: a limit of %d: it must be at least 1", limit)
	}
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return nil, q.failed("reclaim", err)
	}
	t := taking{q: q, conn: conn, limit: limit, queues: orAll(queues)}
	err = t.all(ctx)
	conn.Release() // the calls below take one of their own
	q.tookBack(ctx, t.taken)
	for _, r := range t.refusals {
		q.note(note{r, "the reaper of " + executor(), ""})
	}
	if err != nil {
		err = q.failed("reclaim", err)
	}
	return t.taken, cmp.Or(err, joined(t.refusals))
}

// tookBack has the jobs that are back claimed.
func (q *Queue) tookBack(ctx context.Context, taken []Reclaimed) {
	woken := map[string]bool{}
	for i := range taken {
		r := &taken[i]
		r.Refused = len(q.passedReclaims.drop(r.ID)) > 0
		q.Forget(r.Queue) // a reclaimed job keeps its run_at: it stands before the mark
		woken[r.Queue] = woken[r.Queue] || r.Status == Pending
	}
	maps.DeleteFunc(woken, func(_ string, pending bool) bool { return !pending })
	// The jobs are back whether or not this succeeds; other processes would find them by polling.
	_ = q.Wake(ctx, slices.Sorted(maps.Keys(woken))...)
}

// taking is one call of Reclaim.
type taking struct {
	q        *Queue
	conn     *pgxpool.Conn
	limit    int
	queues   []string
	pass     []int64
	sure     bool // a row that is left alone now is left alone by a trigger
	taken    []Reclaimed
	refusals []*Refusal
}

// all takes back what can be taken back, and passes over what the server refuses.
func (t *taking) all(ctx context.Context) (err error) {
	if t.pass, err = t.q.leaveOut(ctx, t.conn, &t.q.passedReclaims, ""); err != nil {
		return err
	}
	err = t.take(ctx, nil)
	if refusesRow(err) != nil {
		err = t.apart(ctx)
	}
	t.passOver(ctx)
	return err
}

// take takes back expired leases, or those of these ids alone.
func (t *taking) take(ctx context.Context, these []int64) error {
	var taken []Reclaimed
	var alone []int64
	err := t.q.writeOn(ctx, t.conn.Conn(), "reclaim", []any{t.limit, t.queues, t.pass, these}, func(row pgx.CollectableRow) error {
		var r Reclaimed
		var status *Status
		var late float64
		if err := row.Scan(&r.ID, &r.Queue, &r.Kind, &r.Attempts, &status, &r.Owner, &late, &r.CancelledBy); err != nil {
			return err
		}
		if status == nil {
			alone = append(alone, r.ID)
			return nil
		}
		r.Status, r.Late = *status, max(duration(late), 0)
		taken = append(taken, r)
		return nil
	})
	if err != nil {
		return err
	}
	t.taken = append(t.taken, taken...)
	if len(alone) == 0 {
		return nil
	}
	if !t.sure {
		// Owner and lease may be another claim's than when the statement began, so that it
		// left the row alone by itself. A second one sees what is there now.
		t.sure = true
		defer func() { t.sure = false }()
		return t.take(ctx, alone)
	}
	for _, id := range alone {
		t.refusals = append(t.refusals, leftAlone(id, "reclaim"))
	}
	return nil
}

// apart takes back what take would if there were not some rows that the server refuses to
// change, and passes those over from now on.
func (t *taking) apart(ctx context.Context) error {
	var ids []int64
	err := t.q.writeOn(ctx, t.conn.Conn(), "reclaimable", []any{t.limit, t.queues, t.pass}, func(row pgx.CollectableRow) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return err
	}
	return sift(ids, func(some []int64) error { return t.take(ctx, some) }, func(id int64, err error) {
		if refusal, ok := refusalOf(id, "reclaim", err); ok {
			t.refusals = append(t.refusals, refusal)
		}
	})
}

// passOver leaves out for a while what was refused.
func (t *taking) passOver(ctx context.Context) {
	if len(t.refusals) == 0 {
		return
	}
	ids := make([]int64, len(t.refusals))
	for i, r := range t.refusals {
		ids[i] = r.JobID
	}
	versions, err := t.q.versions(ctx, t.conn, ids)
	if err != nil { // then they are tried again after passLooks
		versions = nil
	}
	for _, r := range t.refusals {
		r.For, _ = t.q.passedReclaims.pass(r.JobID, "", versions[r.JobID])
	}
}

// NextExpiry tells how long it is until the earliest lease of these queues runs out, or of
// all where none is named, by the database's clock; ok is false when nothing is in
// processing but jobs that reclaims pass over. Zero or less: one has run out.
func (q *Queue) NextExpiry(ctx context.Context, queues ...string) (in time.Duration, ok bool, err error) {
	pass, _ := q.passedReclaims.ids("")
	return q.seconds(ctx, "next expiry", "next_expiry", orAll(queues), pass)
}

// ExpiryToCome tells how long it is until the earliest lease runs out among those of these
// queues, or of all where none is named, that have not, by the database's clock; ok is false
// when there is none. It is for whoever found that the expired ones are locked.
func (q *Queue) ExpiryToCome(ctx context.Context, queues ...string) (in time.Duration, ok bool, err error) {
	pass, _ := q.passedReclaims.ids("")
	return q.seconds(ctx, "expiry to come", "expiry_to_come", orAll(queues), pass)
}

// orAll has no queues stand for all, which the statements call NULL.
func orAll(queues []string) []string {
	if len(queues) == 0 {
		return nil
	}
	return queues
}
