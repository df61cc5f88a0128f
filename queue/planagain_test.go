package queue

import (
	"testing"
	"time"
)

// What somebody else does later with a job says nothing about the plan that redrove it before.
func TestPlanReportsOnlyItsOwnRedrives(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 9)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	ends(t, q, 9, deadAgain(t, q))
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.DiedAgain != 9 {
		t.Fatalf("%+v", p)
	}
	must[bool](t)(q.EditPayload(t.Context(), ann, Edit{ID: ids[0], Was: get(t, q, ids[0]).Payload, Payload: []byte(`{"mended": true}`), Redrive: true}))
	must[Done](t)(q.Redrive(t.Context(), ann, ids[1]))
	second := executed(t, q, started(t, q, NewPlan{IDs: ids[2:4]}).ID)
	ends(t, q, 4, wellDone(t, q))
	p, second = must[Plan](t)(q.Plan(t.Context(), p.ID)), must[Plan](t)(q.Plan(t.Context(), second.ID))
	if p.DiedAgain != 9 || p.Completed != 0 {
		t.Errorf("the first plan tells %d died again, %d completed; all nine of its own died again", p.DiedAgain, p.Completed)
	}
	if second.Completed != 2 || second.DiedAgain != 0 {
		t.Errorf("the second plan %+v", second)
	}
}

// The operator log has of a plan under way what the plan has.
func TestLogHasWhatAPlanHasDoneSoFar(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 6)
	must[Done](t)(q.Discard(t.Context(), bob, "", ids[1]))
	p := started(t, q, NewPlan{IDs: ids, Canary: 3, Wait: true})
	must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) {
		if a := must[[]Act](t)(q.Acts(t.Context(), 0, 1))[0]; a.Done != 3 || a.Skips != 1 || a.Asked != 6 || a.Ended != nil {
			t.Errorf("%+v", a)
		}
		ends(t, q, 3, wellDone(t, q))
	})))
}

// The jobs of a large set are added in parts, and somebody may hear how far that is.
func TestPlanTellsHowManyJobsItHas(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := make([]int64, 2*planAdds+7)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	var told []int
	p := started(t, q, NewPlan{IDs: ids, Told: func(added int) { told = append(told, added) }})
	if len(told) != 3 || told[0] != planAdds || told[2] != len(ids) || p.Total != int64(len(ids)) {
		t.Errorf("told %v of %d", told, p.Total)
	}
}

// An act that waits enters the time at which it happens, so that the history is in order.
func TestHistoryIsInTheOrderOfItsTimes(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{Delay: time.Hour})
	waiter := begin(t, q) // whose transaction begins before
	must[any](t)(waiter.Exec(t.Context(), "select now()"))
	must[Done](t)(q.RunNow(t.Context(), ann, id))
	must[any](t)(waiter.Exec(t.Context(), q.schema.Query("cancel"), []int64{id}, bob, false))
	ok(t, waiter.Commit(t.Context()))
	h := get(t, q, id).Errors
	if len(h) != 2 || h[0].Outcome != "run now" || h[1].Outcome != "cancelled" || h[1].At.Before(h[0].At) {
		t.Errorf("%+v", h)
	}
}
