package queue

import (
	"fmt"
	"testing"
)

// A plan that stopped and goes on though nothing was mended loses no more than a canary to
// it, again and again, whether it began with one or not, stopped by it or in its course.
func TestPlanThatGoesOnAfterAStopRisksOnlyACanary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan   NewPlan
		well   int64 // so many end well before the cause is there
		canary int64 // that each go on risks
	}{
		"stopped by its canary":           {NewPlan{Canary: 5, StopAt: new(20)}, 0, 5},
		"stopped by a canary that waits":  {NewPlan{Canary: 5, StopAt: new(20), Wait: true}, 0, 5},
		"stopped in its course":           {NewPlan{Canary: 3, StopAt: new(20), Pace: 500}, 40, 3},
		"stopped, and began without one":  {NewPlan{StopAt: new(20), Pace: 500}, 0, 10},
		"in its course, began without it": {NewPlan{StopAt: new(20), Pace: 500}, 40, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			ids := deadLetters(t, q, 2000)
			discarded := int64(0)
			c.plan.IDs = ids
			p := started(t, q, c.plan)
			ended := int64(0)
			// Everything that is redriven ends at once, and badly once the cause is there. The
			// pace may let a canary go in parts: it ends when all of it is redriven.
			course := func(p Plan) {
				if p.CanaryLeft > 0 {
					return
				}
				for ; ended < p.Redriven && (p.State == PlanRunning || p.State == PlanCanary); ended++ {
					if ended < c.well {
						ends(t, q, 1, wellDone(t, q))
					} else {
						ends(t, q, 1, deadAgain(t, q))
					}
				}
			}
			p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, course))
			for again := range 3 {
				if p.State != PlanStopped {
					t.Fatalf("%d: it did not stop: %+v", again, p)
				}
				before := p.Redriven
				// One that cannot be redriven is not a part of the canary.
				discarded += int64(len(must[Done](t)(q.Discard(t.Context(), bob, "", ids[p.Redriven+p.Skipped])).IDs))
				p = must[Plan](t)(q.ResumePlan(t.Context(), bob, "it is mended", p.ID))
				if p.State != PlanRunning || p.CanaryLeft != c.canary || p.CanaryAfter != before {
					t.Errorf("resumed: %+v", p)
				}
				p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, course))
				if p.Redriven != before+c.canary || p.Skipped != discarded || p.Why != fmt.Sprintf("%[1]d of %[1]d that ended died again, more than 20 %%", c.canary) {
					t.Errorf("%d: %d more are lost: %+v", again, p.Redriven-before, p)
				}
			}
			// With the cause gone it goes on behind its canary, and waits where it did before.
			c.well = 2000
			must[Plan](t)(q.ResumePlan(t.Context(), bob, "it is mended", p.ID))
			before := p.Redriven
			p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
				if course(p); p.State == PlanRunning && p.Redriven > before+c.canary+20 {
					must[Plan](t)(q.CancelPlan(t.Context(), bob, "enough", p.ID))
				}
			}))
			switch {
			case c.plan.Wait && (p.State != PlanHeld || p.Redriven != before+c.canary):
				t.Errorf("it waits for nobody: %+v", p)
			case !c.plan.Wait && p.Redriven < before+c.canary:
				t.Errorf("it does not go on: %+v", p)
			case !c.plan.Wait && p.State != PlanCancelled && p.State != PlanDone:
				t.Errorf("it stopped though all ended well: %+v", p)
			}
		})
	}
}

// A pause within the second canary does not end it, and neither does another executor.
func TestSecondCanaryOutlivesAPauseAndItsExecutor(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 30), Canary: 4, StopAt: new(20)})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) { ends(t, q, 4, deadAgain(t, q)) })))
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	e := newExecution(q, p.ID, nil)
	e.most = 3
	ok(t, e.take(t.Context()))
	must[bool](t)(stepOver(e.step(t.Context())))
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.CanaryLeft != 1 || p.Redriven != 7 {
		t.Fatalf("%+v", p)
	}
	e.release(t.Context())
	must[Plan](t)(q.PausePlan(t.Context(), bob, "", p.ID))
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(p Plan) {
		if p.Redriven != 8 || p.CanaryLeft != 0 || p.CanaryAfter != 4 {
			t.Errorf("%+v", p)
		}
		ends(t, q, 4, deadAgain(t, q))
	})))
	if p.State != PlanStopped || p.Redriven != 8 {
		t.Errorf("%+v", p)
	}
}

// An executor that has not noticed the stop and the go on that followed it judges by the new canary all the same.
func TestExecutorThatMissedAStopJudgesByTheNewCanary(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 30), Canary: 4, StopAt: new(20)})
	e := newExecution(q, p.ID, once(PlanCanary, func(Plan) { ends(t, q, 4, deadAgain(t, q)) }))
	for p.State != PlanStopped {
		if _, over, err := e.step(t.Context()); over || err != nil {
			t.Fatal(over, err)
		}
		p = must[Plan](t)(q.Plan(t.Context(), p.ID))
	}
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	e.told = once(PlanCanary, func(Plan) { ends(t, q, 4, wellDone(t, q)) })
	ok(t, e.run(t.Context()))
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.State != PlanDone || p.Completed != 4 || p.DiedAgain != 4 {
		t.Errorf("%+v", p)
	}
}
