package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// actBatch is how many jobs an operator's act changes in one transaction.
	actBatch = 200
	// finishPatience is how long a transaction under way may take once its caller gave up.
	finishPatience = 2 * time.Second
)

// did reads a row of an act's statement: the job's id, and note, which is called when
// the act has committed.
type did func(pgx.CollectableRow) (id int64, note func(), err error)

// acting is an act on many jobs under way.
type acting struct {
	q         *Queue
	statement string
	args      []any // after the ids
	did       did
	// why says why a job was left that the statement returned no row for. The reason is ""
	// when the act was done to it after all, and changed when it could be done now.
	why     func(context.Context, int64) (Skip, error)
	lockers string // the statement that finds who has rows locked
	skipped *[]Skip

	patience  *patience
	witnessed int            // for how many jobs a witness was called
	waiting   []int64        // jobs that were locked at their turn
	again     map[int64]bool // jobs that could be changed and were not: tried once more
}

// act runs a statement on many jobs, a batch to a transaction. A job whose row the server
// refuses to change is skipped with the server's reason, and one that stays locked with the
// name of who has it locked; the others are done. When ctx ends, the transaction under way
// is finished and counted, and no other begins.
func (q *Queue) act(ctx context.Context, a acting, ids []int64) error {
	a.q, a.patience, a.again = q, patienceOf(ctx), map[int64]bool{}
	if a.lockers == "" {
		a.lockers = "lockers"
	}
	for batch := range slices.Chunk(distinct(ids), actBatch) {
		if err := a.batch(ctx, batch); err != nil {
			return q.failed(a.statement, err)
		}
	}
	err := a.outwait(ctx)
	// In the order that was asked for, not in the order in which they were given up.
	turn := make(map[int64]int, len(ids))
	for i, id := range slices.Backward(ids) {
		turn[id] = i
	}
	slices.SortStableFunc(*a.skipped, func(a, b Skip) int { return cmp.Compare(turn[a.ID], turn[b.ID]) })
	return q.failed(a.statement, err)
}

// batch acts on jobs in one transaction or, when the server refuses one of them, in halves.
func (a *acting) batch(ctx context.Context, ids []int64) error {
	return sift(ids, func(some []int64) error { return a.once(ctx, some) }, a.refused)
}

// once acts on jobs in one transaction, and notes why each job is left that it was not done to.
func (a *acting) once(ctx context.Context, ids []int64) error {
	var done map[int64]bool
	err := finishing(ctx, func(ctx context.Context) (err error) {
		done, err = a.q.actOn(ctx, a.statement, ids, a.args, a.did)
		return err
	})
	switch {
	case locked(err):
		return a.held(ctx, ids)
	case err != nil:
		return err
	}
	for _, id := range ids {
		if done[id] {
			continue
		}
		if err := finishing(ctx, func(ctx context.Context) error { return a.leave(ctx, id) }); err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
	}
	return nil
}

// leave notes why a job is left.
func (a *acting) leave(ctx context.Context, id int64) error {
	skip, err := a.why(ctx, id)
	switch {
	case locked(err):
		a.waiting = append(a.waiting, id)
	case refusesRow(err) != nil:
		a.refused(id, err)
	case err != nil:
		return err
	case skip.Reason == changed && !a.again[id]:
		a.again[id] = true
		a.waiting = append(a.waiting, id)
	case skip.Reason == changed:
		a.skip(Skip{ID: id, Reason: leftAlone(id, a.statement).Reason, Failed: true})
	case skip.Reason != "":
		skip.ID = id
		a.skip(skip)
	}
	return nil
}

// refused skips a job with the server's reason.
func (a *acting) refused(id int64, err error) { a.skip(refusedSkip(id, a.statement, err)) }

func (a *acting) skip(s Skip) { *a.skipped = append(*a.skipped, s) }

// refusedSkip is a job whose row the server refuses to change.
func refusedSkip(id int64, act string, err error) Skip {
	r, _ := refusalOf(id, act, err)
	if r.SQLSTATE == "22012" && (act == "discard" || act == "restore") { // division_by_zero: see discard.sql
		return Skip{ID: id, Reason: leftAlone(id, act).Reason, Failed: true}
	}
	s, _ := Skipped(r)
	return s
}

// Skipped turns the error of an act on one job into why the job is left, when that is about
// the job alone: it is locked, or the server refuses to change its row. Any other error is
// returned.
func Skipped(err error) (Skip, error) {
	var r *Refusal
	var l *lockedError
	switch {
	case errors.As(err, &r):
		return Skip{ID: r.JobID, Reason: refuses + r.Reason, Detail: r.Detail, Failed: true}, nil
	case errors.As(err, &l) && l.id != 0:
		return Skip{ID: l.id, Reason: l.text, Failed: true}, nil
	}
	return Skip{}, err
}

// actOn runs the statement of an act in one transaction and returns whom it was done to.
func (q *Queue) actOn(ctx context.Context, statement string, ids []int64, args []any, did did) (map[int64]bool, error) {
	done := map[int64]bool{}
	var notes []func()
	err := q.writePatiently(ctx, statement, append([]any{ids}, args...), func(row pgx.CollectableRow) error {
		id, note, err := did(row)
		done[id], notes = true, append(notes, note)
		return err
	})
	if err != nil {
		return nil, err // what the rows said was not committed
	}
	for _, note := range notes {
		note()
	}
	return done, nil
}

// finishing does something short that may outlast ctx by a moment, so that who gives
// up in the middle still learns what was done. It is not begun when ctx has ended.
func finishing(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	longer, cancel := lasting(ctx)
	defer cancel()
	err := do(longer)
	if err != nil && longer.Err() != nil {
		return &unanswered{cause: ctx.Err()}
	}
	return err
}

// unanswered is the error of a statement that the server did not answer in time.
type unanswered struct {
	cause error
	what  string // that is not known; "" this was done
}

func (e *unanswered) Error() string {
	return "the server did not answer in time, so it is not known whether " + cmp.Or(e.what, "this was done")
}
func (e *unanswered) Unwrap() error { return e.cause }

// lasting outlasts ctx, which may have ended already, by a moment.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishPatience, cancel) })
	return longer, func() { stop(); cancel() }
}

// distinct returns ids in their order, each once.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	out := make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
