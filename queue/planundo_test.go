package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// whatItWas is a job without its history and without what no dead letter has.
func whatItWas(t testing.TB, q *Queue, id int64) (row string) {
	t.Helper()
	ok(t, q.pool.QueryRow(t.Context(), `select (to_jsonb(jobs) - 'errors')::text from leasetop.jobs where id = $1`, id).Scan(&row))
	return row
}

// Every column is again what it was; the history has two entries more.
func TestUndoMakesDeadLettersWhatTheyWere(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 4)
	cancelled := enqueue(t, q, NewJob{IdempotencyKey: "K"})
	must[Cancelled](t)(q.Cancel(t.Context(), "carl", cancelled))
	ids = append(ids, cancelled, buried(t, q, NewJob{MaxAttempts: 3}))
	var before []string
	for _, id := range ids {
		before = append(before, whatItWas(t, q, id))
	}
	entries := len(get(t, q, cancelled).Errors)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	p = must[Plan](t)(q.UndoPlan(t.Context(), bob, "too soon", p.ID))
	if p.State != PlanUndoing || p.StateBy != bob {
		t.Errorf("%+v", p)
	}
	p = executed(t, q, p.ID)
	if p.State != PlanUndone || p.StateBy != bob || p.Why != "too soon" || p.Undone != 6 || p.Redriven != 0 || p.EndedAt == nil {
		t.Errorf("%+v", p)
	}
	for i, id := range ids {
		if after := whatItWas(t, q, id); after != before[i] {
			t.Errorf("it was\n%s and is\n%s", before[i], after)
		}
	}
	history := get(t, q, cancelled).Errors
	if len(history) != entries+2 || history[entries+1].Outcome != "taken back" || history[entries+1].Worker != fmt.Sprintf("%s (plan %d)", bob, p.ID) {
		t.Errorf("%+v", history)
	}
	// A dead letter like any other: it can be redriven, and its key is free.
	if again := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID); again.Redriven != 6 {
		t.Errorf("%+v", again)
	}
}

func TestUndoLeavesWhatSomebodyTouchedSince(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 9)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	ends(t, q, 1, wellDone(t, q))
	claim(t, q, time.Minute)
	ends(t, q, 1, deadAgain(t, q))
	ends(t, q, 1, func(l Lease) error { return errorOf(q.Retry(t.Context(), l, "again", time.Hour)) })
	ends(t, q, 1, func(l Lease) error { return errorOf(q.Release(t.Context(), l)) })
	exec(t, q, "update leasetop.jobs set payload = '{}', updated_at = now() where id = $1", ids[5])
	must[Cancelled](t)(q.Cancel(t.Context(), "carl", ids[6]))
	must[Done](t)(q.Discard(t.Context(), "carl", "", ids[6]))
	exec(t, q, "delete from leasetop.jobs where id = $1", ids[7])
	p = must[Plan](t)(q.UndoPlan(t.Context(), bob, "", p.ID))
	p = executed(t, q, p.ID)
	if p.State != PlanUndone || p.Undone != 1 || p.Redriven != 8 {
		t.Errorf("%+v", p)
	}
	want := []string{"completed", "running", "died again", "claimed since", "changed since", "changed since", "discarded since", "gone", ""}
	if left := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, ids[0], 5, "redriven", "skipped")); len(left) != 5 || left[0].ID != ids[1] || left[4].ID != ids[5] {
		t.Errorf("not taken back, from the second on: %+v", left)
	}
	for i, j := range must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10)) {
		if j.Reason != want[i] || (j.State == "undone") != (i == 8) {
			t.Errorf("%d: %+v, want %q", i, j, want[i])
		}
	}
}

// What was waiting stays dead, and is left.
func TestUndoOfAPlanInItsCourse(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 3000)
	p := started(t, q, NewPlan{IDs: ids})
	undo := false
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		addsUp(t, p)
		if p.Redriven > 0 && !undo {
			undo = true
			must[Plan](t)(q.UndoPlan(t.Context(), ann, "wrong ones", p.ID))
		}
	}))
	addsUp(t, p)
	if p.State != PlanUndone || p.Undone == 0 || p.Left != 3000-p.Undone || p.Redriven != 0 {
		t.Errorf("%+v", p)
	}
	if n := len(deadIDs(t, q, "")); n != 3000 {
		t.Errorf("%d dead letters", n)
	}
	redriven, _ := noted(t, q, "redriven", ids)
	if back, jobs := noted(t, q, "back", ids); back != redriven || jobs != redriven || redriven != p.Undone {
		t.Errorf("%d redriven, %d taken back, %d of them once", redriven, back, jobs)
	}
	left := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 5000, "left"))
	if int64(len(left)) != p.Left {
		t.Errorf("%d are listed as left", len(left))
	}
	for _, change := range []func() (Plan, error){
		func() (Plan, error) { return q.UndoPlan(t.Context(), bob, "", p.ID) },
		func() (Plan, error) { return q.ResumePlan(t.Context(), bob, "", p.ID) },
	} {
		if _, err := change(); !errors.Is(err, ErrPlanState) || !strings.Contains(err.Error(), "is undone") {
			t.Error(err)
		}
	}
}

func TestCancelledPlanCanBeUndone(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 10), Canary: 4, Wait: true})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) {
		must[Plan](t)(q.CancelPlan(t.Context(), bob, "no", p.ID))
	})))
	addsUp(t, p)
	if p.State != PlanCancelled || p.Redriven != 4 || p.Left != 6 || p.Waiting != 0 {
		t.Errorf("%+v", p)
	}
	must[Plan](t)(q.UndoPlan(t.Context(), bob, "", p.ID))
	if p = executed(t, q, p.ID); p.State != PlanUndone || p.Undone != 4 || p.Left != 6 {
		t.Errorf("%+v", p)
	}
}

// A worker that claims while the undo goes on: each job is either's.
func TestUndoAndClaimsShareTheJobs(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 2000)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	must[Plan](t)(q.UndoPlan(t.Context(), ann, "", p.ID))
	claimed := make(chan int)
	go func() {
		n := 0
		for {
			jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 7})
			if err != nil {
				t.Error(err)
			}
			n += len(jobs)
			if len(jobs) == 0 {
				claimed <- n
				return
			}
		}
	}()
	p = executed(t, q, p.ID)
	if n := <-claimed; int64(n) != p.Redriven || p.Undone != int64(2000-n) || p.Running != p.Redriven {
		t.Errorf("%d were claimed: %+v", n, p)
	}
}
