package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// planAdds is how many jobs one statement adds to a plan: few enough to end before a
// statement_timeout, for its caller to give up between two, and to tell how far it is.
const planAdds = 10_000

// StartPlan fixes the set of a plan in one transaction, with its entry in the operator log.
// An id that is named twice is in it once; what the jobs are is looked at when their turn
// comes. by is noted in the history of each job, with the plan's id. The plan is running
// then, and waits for whoever calls [Queue.ExecutePlan]. A set of no jobs is an error, and so
// is a number below zero, above 100 for StopAt, or above [MaxPace] for Pace. When the connection is lost at the
// commit, the plan may be there all the same: see [Queue.Plans].
func (q *Queue) StartPlan(ctx context.Context, by string, p NewPlan) (Plan, error) {
	ids := distinct(p.IDs)
	switch {
	case len(ids) == 0:
		return Plan{}, errors.New("start a redrive plan: no jobs")
	case p.Canary < 0:
		return Plan{}, fmt.Errorf("start a redrive plan: a canary of %d: it must not be negative", p.Canary)
	case !(p.Pace >= 0 && p.Pace <= MaxPace):
		return Plan{}, fmt.Errorf("start a redrive plan: %g jobs a second: it must be from 0 to %d", p.Pace, MaxPace)
	case p.StopAt != nil && (*p.StopAt < 0 || *p.StopAt > 100):
		return Plan{}, fmt.Errorf("start a redrive plan: stopping at %d %%: it must be from 0 to 100", *p.StopAt)
	}
	var id int64
	by, filter, reason := errorText(by), errorText(p.Filter), errorText(p.Reason)
	begin := func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, q.schema.Query("plan_start"), by, filter, reason,
			min(p.Canary, len(ids)), p.Wait, p.Pace, p.StopAt, len(ids)).Scan(&id)
		if err != nil {
			return q.forbid(err, "plan_start")
		}
		_, err = tx.Exec(ctx, q.schema.Query("log_act"), by, "redrive", filter, reason, ids[:min(len(ids), loggedIDs)], id, len(ids))
		if err != nil {
			return q.forbid(err, "log_act")
		}
		added := 0
		for some := range slices.Chunk(ids, planAdds) {
			if _, err := tx.Exec(ctx, q.schema.Query("plan_add"), id, added, some); err != nil {
				return q.forbid(err, "plan_add")
			}
			added += len(some)
			if p.Told != nil {
				p.Told(added)
			}
		}
		return nil
	}
	err := q.patiently(ctx, 0, func(short context.Context) error { // which would end in the middle of a large set
		return q.patientTx(context.WithValue(ctx, witnessKey{}, short.Value(witnessKey{})), begin)
	})
	if err != nil {
		return Plan{}, q.failed("start a redrive plan", err)
	}
	return q.Plan(ctx, id)
}
