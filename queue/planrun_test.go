package queue

import (
	"testing"
)

// deadLetters makes n dead letters of the queue emails and returns their ids.
func deadLetters(t testing.TB, q *Queue, n int) []int64 {
	t.Helper()
	exec(t, q, "insert into leasetop.jobs (queue, status, attempts, last_error, errors, updated_at) select 'emails', 'dead', 5, 'x', '[]', now() - interval '1 hour' from generate_series(1, $1) n", n)
	return must[[]int64](t)(q.DeadIDs(t.Context(), ""))
}

func TestPlanRedrivesItsSetAndNothingElse(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 1200)
	p := must[Plan](t)(q.StartPlan(t.Context(), "ann@laptop", NewPlan{IDs: append(ids, ids[:100]...), Reason: "fixed"}))
	later := deadLetters(t, q, 100)
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, nil))
	t.Logf("%+v", p)
	if p.State != PlanDone || p.Total != 1200 || p.Redriven != 1200 || p.Pending != 1200 || p.Executor != "" {
		t.Errorf("%+v", p)
	}
	if n := len(must[[]int64](t)(q.DeadIDs(t.Context(), ""))); n != 100 {
		t.Errorf("%d dead letters are left of %d", n, len(later))
	}
	p = must[Plan](t)(q.UndoPlan(t.Context(), "bob@desk", "", p.ID))
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, nil))
	if p.State != PlanUndone || p.Undone != 1200 {
		t.Errorf("%+v", p)
	}
}
