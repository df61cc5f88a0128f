package queue

import (
	"fmt"
	"testing"
	"time"
)

func TestPlanStopsByTheShareOfThoseThatEnded(t *testing.T) {
	t.Parallel()
	canary := standingPlan{Plan: Plan{State: PlanCanary, StopAt: new(20), PlanCounts: PlanCounts{Total: 1000}}}
	running := standingPlan{Plan: Plan{State: PlanRunning, StopAt: new(20), PlanCounts: PlanCounts{Total: 1000}}}
	few := standingPlan{Plan: Plan{State: PlanRunning, StopAt: new(20), PlanCounts: PlanCounts{Total: 4}}}
	never := standingPlan{Plan: Plan{State: PlanRunning, PlanCounts: PlanCounts{Total: 1000}}}
	strict := running
	strict.StopAt = new(0)
	resumed := running
	resumed.judged = 997
	for name, c := range map[string]struct {
		plan standingPlan
		of   planOutcomes
		want string
	}{
		"nothing ended":                     {running, planOutcomes{redriven: 50, pending: 50}, ""},
		"the first died":                    {running, planOutcomes{redriven: 50, died: 1, pending: 49}, ""},
		"the first three died":              {running, planOutcomes{redriven: 50, died: 3, pending: 47}, "3 of 3 that ended died again, more than 20 %"},
		"a fifth":                           {running, planOutcomes{redriven: 50, completed: 40, died: 10}, ""},
		"more than a fifth":                 {running, planOutcomes{redriven: 50, completed: 39, died: 11}, "11 of 50 that ended died again, more than 20 %"},
		"those gone tell nothing":           {running, planOutcomes{redriven: 50, gone: 40, died: 10}, "10 of 10 that ended died again, more than 20 %"},
		"the first, at nought":              {strict, planOutcomes{redriven: 50, completed: 48, died: 1, pending: 1}, "1 of 49 that ended died again, more than 0 %"},
		"none, at nought":                   {strict, planOutcomes{redriven: 50, completed: 50}, ""},
		"never":                             {never, planOutcomes{redriven: 50, died: 50}, ""},
		"one of a small plan":               {few, planOutcomes{redriven: 2, died: 1, running: 1}, "1 of 1 that ended died again, more than 20 %"},
		"one of a canary of five":           {canary, planOutcomes{redriven: 5, died: 1, running: 4}, ""},
		"two of a canary, the rest running": {canary, planOutcomes{redriven: 5, died: 2, running: 3}, "2 of 2 that ended died again, more than 20 %"},
		"three of a canary":                 {canary, planOutcomes{redriven: 5, died: 3, completed: 2}, "3 of 5 that ended died again, more than 20 %"},
		"one of the last three":             {resumed, planOutcomes{redriven: 3, died: 1, completed: 2}, "1 of 3 that ended died again, more than 20 %"},
	} {
		tally := tally{cares: c.plan.judged, blocks: []block{{to: c.plan.judged, planOutcomes: planOutcomes{redriven: 900, died: 900}}, {from: c.plan.judged, to: 1000, planOutcomes: c.of}}}
		if c.plan.judged == 0 {
			tally.blocks = tally.blocks[1:]
		}
		if got := tally.stop(&c.plan); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// ends has workers end n jobs of the queue emails, in the order of the redrive.
func ends(t testing.TB, q *Queue, n int, end func(Lease) error) {
	t.Helper()
	for range n {
		ok(t, end(claim(t, q, time.Minute).Lease()))
	}
}

func wellDone(t testing.TB, q *Queue) func(Lease) error {
	return func(l Lease) error { return q.Complete(t.Context(), l) }
}

func deadAgain(t testing.TB, q *Queue) func(Lease) error {
	return func(l Lease) error { return q.Bury(t.Context(), l, "again") }
}

// once returns a told function that does something at the first sight of a state.
func once(state PlanState, do func(Plan)) func(Plan) {
	seen := false
	return func(p Plan) {
		if p.State == state && !seen {
			seen = true
			do(p)
		}
	}
}

func TestCanaryIsWatchedAndThePlanHeld(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 30)
	skipped := must[Done](t)(q.Discard(t.Context(), bob, "", ids[0])) // a canary has five that are redriven
	p := started(t, q, NewPlan{IDs: ids, Canary: 5, Wait: true, StopAt: new(20)})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(p Plan) {
		if p.Redriven != 5 || p.Skipped != int64(len(skipped.IDs)) || p.Waiting != 24 {
			t.Errorf("%+v", p)
		}
		ends(t, q, 4, wellDone(t, q))
		ends(t, q, 1, deadAgain(t, q))
	})))
	if p.State != PlanHeld || p.Redriven != 5 || p.Completed != 4 || p.DiedAgain != 1 || p.Executor != "" {
		t.Fatalf("%+v", p)
	}
	if p = executed(t, q, p.ID); p.State != PlanHeld {
		t.Errorf("executed though it is held: %+v", p)
	}
	p = must[Plan](t)(q.ResumePlan(t.Context(), bob, "looks well", p.ID))
	if p.State != PlanRunning || p.StateBy != bob || p.Why != "looks well" {
		t.Errorf("%+v", p)
	}
	if p = executed(t, q, p.ID); p.State != PlanDone || p.Redriven != 29 {
		t.Errorf("%+v", p)
	}
}

func TestPlanGoesOnByItselfAfterItsCanary(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 30)
	p := started(t, q, NewPlan{IDs: ids, Canary: 5, StopAt: new(20)})
	watched := false
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(p Plan) {
		watched = p.Redriven == 5
		ends(t, q, 4, wellDone(t, q))
		exec(t, q, "delete from leasetop.jobs where id = $1", ids[4]) // gone is an end too
	})))
	if !watched || p.State != PlanDone || p.Redriven != 30 || p.Completed != 4 || p.Gone != 1 {
		t.Errorf("%+v", p)
	}
}

// A canary of which nobody knows how it ended proves nothing, whoever wanted to wait.
func TestCanaryThatIsGoneHoldsThePlan(t *testing.T) {
	t.Parallel()
	for _, wait := range []bool{false, true} {
		for _, gone := range []int{3, 5} {
			q := open(t)
			ids := deadLetters(t, q, 30)
			p := started(t, q, NewPlan{IDs: ids, Canary: 5, Wait: wait, StopAt: new(0)})
			p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) {
				ends(t, q, 5, wellDone(t, q))
				exec(t, q, "delete from leasetop.jobs where id = any($1)", ids[:gone])
			})))
			want := fmt.Sprintf("%d of the 5 that went first are gone, and nobody knows how they ended", gone)
			if p.State != PlanHeld || p.StateBy != "" || p.Why != want || p.Redriven != 5 {
				t.Errorf("wait %v: %+v", wait, p)
			}
			must[Plan](t)(q.ResumePlan(t.Context(), bob, "they were purged", p.ID))
			if p = executed(t, q, p.ID); p.State != PlanDone {
				t.Errorf("then %+v", p)
			}
		}
	}
}

// CASES: a plan whose jobs die again stops by itself and says so.
func TestCanaryThatDiesAgainStopsThePlan(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 30)
	p := started(t, q, NewPlan{IDs: ids, Canary: 5, StopAt: new(20)})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) {
		ends(t, q, 2, wellDone(t, q))
		ends(t, q, 3, deadAgain(t, q))
	})))
	if p.State != PlanStopped || p.StateBy != "" || p.Redriven != 5 || p.Waiting != 25 || p.DiedAgain == 0 {
		t.Fatalf("%+v", p)
	}
	if p.Why != "3 of 5 that ended died again, more than 20 %" {
		t.Errorf("it says %q", p.Why)
	}
}

func TestPlanWhoseJobsDieAgainStopsInItsCourse(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 2000)
	p := started(t, q, NewPlan{IDs: ids, Pace: 500, StopAt: new(20)})
	dead := 0
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		for ; dead < int(p.Redriven) && p.State == PlanRunning; dead++ {
			ends(t, q, 1, deadAgain(t, q))
		}
	}))
	if p.State != PlanStopped || p.Waiting == 0 || p.DiedAgain != p.Redriven {
		t.Fatalf("%+v", p)
	}
	before := p.Redriven
	// After that it judges by what it redrives from now on.
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	well := 0
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		if p.Redriven > before+30 && p.State == PlanRunning {
			must[Plan](t)(q.CancelPlan(t.Context(), bob, "enough", p.ID))
		}
		for ; well < int(p.Redriven-before) && p.State == PlanRunning; well++ {
			ends(t, q, 1, wellDone(t, q))
		}
	}))
	if p.State != PlanCancelled || p.Redriven <= before+30 {
		t.Errorf("%+v", p)
	}
}
