package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What each request does in each state: into which state it brings the plan, "" when it is refused.
func TestRequestsInEveryStateOfAPlan(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := started(t, q, NewPlan{IDs: deadLetters(t, q, 3)}).ID
	requests := map[string]func(PlanState) (Plan, error){
		"pause":  func(PlanState) (Plan, error) { return q.PausePlan(t.Context(), bob, "wait", id) },
		"resume": func(PlanState) (Plan, error) { return q.ResumePlan(t.Context(), bob, "wait", id) },
		"cancel": func(PlanState) (Plan, error) { return q.CancelPlan(t.Context(), bob, "wait", id) },
		"undo":   func(PlanState) (Plan, error) { return q.UndoPlan(t.Context(), bob, "wait", id) },
	}
	for state, allowed := range map[PlanState]map[string]PlanState{
		PlanRunning:   {"pause": PlanPaused, "cancel": PlanCancelled, "undo": PlanUndoing},
		PlanCanary:    {"pause": PlanPaused, "cancel": PlanCancelled, "undo": PlanUndoing},
		PlanHeld:      {"resume": PlanRunning, "cancel": PlanCancelled, "undo": PlanUndoing},
		PlanPaused:    {"resume": PlanRunning, "cancel": PlanCancelled, "undo": PlanUndoing},
		PlanStopped:   {"resume": PlanRunning, "cancel": PlanCancelled, "undo": PlanUndoing},
		PlanDone:      {"undo": PlanUndoing},
		PlanCancelled: {"undo": PlanUndoing},
		PlanUndoing:   {},
		PlanUndone:    {},
	} {
		for name, request := range requests {
			exec(t, q, "update leasetop.redrive_plans set state = $2, state_by = 'carl', why = 'so', ended_at = null where id = $1", id, state)
			p, err := request(state)
			want := allowed[name]
			if state == PlanUndoing && name == "undo" { // whoever executed that may be gone
				if err != nil || p.State != state || p.StateBy != "carl" || p.Why != "so" {
					t.Errorf("undo of one that is being undone: %+v %v", p, err)
				}
				continue
			}
			switch {
			case want != "" && (err != nil || p.State != want || p.StateBy != bob || p.Why != "wait" || p.State.Ended() != (p.EndedAt != nil)):
				t.Errorf("%s of one that is %s: %+v %v", name, state, p, err)
			case want == "" && (!errors.Is(err, ErrPlanState) || p.State != state || p.StateBy != "carl"):
				t.Errorf("%s of one that is %s: %+v %v", name, state, p, err)
			case want == "" && err.Error() != fmt.Sprintf("%s: plan %d is %s, by carl: so", name, id, state):
				t.Errorf("refused in these words: %v", err)
			}
		}
	}
}

// Two operators on one plan: one acts, the other is told.
func TestTwoOperatorsPauseAPlanAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 3)})
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, who := range []string{ann, bob} {
		both.Go(func() { _, errs[i] = q.PausePlan(t.Context(), who, "", p.ID) })
	}
	both.Wait()
	slices.SortFunc(errs, func(a, b error) int {
		if a == nil {
			return -1
		}
		return 1
	})
	p = must[Plan](t)(q.Plan(t.Context(), p.ID))
	if errs[0] != nil || !errors.Is(errs[1], ErrPlanState) || !strings.Contains(errs[1].Error(), "is paused, by "+p.StateBy) {
		t.Errorf("%v; %+v", errs, p)
	}
}

func TestTwoExecutorsRaceAndOneIsTold(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 3000)
	p := started(t, q, NewPlan{IDs: ids})
	results := make([]error, 8)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			_, results[i] = q.ExecutePlan(t.Context(), p.ID, nil)
		})
	}
	all.Wait()
	for _, err := range results {
		if err != nil && (!errors.Is(err, ErrPlanTaken) || !strings.Contains(err.Error(), executor()+" executes plan 1")) {
			t.Error(err)
		}
	}
	if !slices.Contains(results, nil) {
		t.Error("nobody executed it")
	}
	if entries, jobs := noted(t, q, "redriven", ids); entries != 3000 || jobs != 3000 {
		t.Errorf("%d redrives of %d jobs", entries, jobs)
	}
}

// Nothing is redriven after a pause has returned, from whichever process.
func TestPauseHoldsBetweenTwoBatches(t *testing.T) {
	t.Parallel()
	q := open(t)
	other := must[*Queue](t)(New(q.pool, ""))
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 5000)})
	asked, paused := make(chan struct{}), make(chan Plan)
	var ask sync.Once
	go func() {
		<-asked
		p, err := other.PausePlan(t.Context(), bob, "lunch", p.ID)
		if err != nil {
			t.Error(err)
		}
		paused <- p
	}()
	after := must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		if p.Redriven > 0 {
			ask.Do(func() { close(asked) })
		}
	}))
	then := <-paused
	if after.State != PlanPaused || after.StateBy != bob || after.Redriven != then.Redriven || then.Waiting == 0 || after.Executor != "" {
		t.Errorf("paused %+v, ended %+v", then, after)
	}
	must[Plan](t)(other.ResumePlan(t.Context(), ann, "", p.ID))
	if p = executed(t, other, p.ID); p.State != PlanDone || p.Redriven != 5000 {
		t.Errorf("%+v", p)
	}
}

func TestPauseIsNoticedWhileAPlanWaits(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 50), Pace: 0.001})
	var ask sync.Once
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		if p.Redriven == 1 { // the next is due in a quarter of an hour
			ask.Do(func() { must[Plan](t)(q.PausePlan(t.Context(), bob, "", p.ID)) })
		}
	}))
	if p.State != PlanPaused || p.Redriven != 1 {
		t.Errorf("%+v", p)
	}
}

func TestPausedCanaryIsWatchedAgain(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 10), Canary: 2, Wait: true})
	pause := once(PlanCanary, func(p Plan) { must[Plan](t)(q.PausePlan(t.Context(), bob, "", p.ID)) })
	if p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, pause)); p.State != PlanPaused {
		t.Fatalf("%+v", p)
	}
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) { ends(t, q, 2, wellDone(t, q)) })))
	if p.State != PlanHeld || p.Redriven != 2 {
		t.Errorf("%+v", p)
	}
}

// Somebody else goes on when the lease of an executor has run out, and the first one,
// who was only away for long, does nothing any more.
func TestPlanIsTakenOverFromAnExecutorThatIsGone(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 20)
	p := started(t, q, NewPlan{IDs: ids})
	gone := newExecution(q, p.ID, nil)
	gone.most = 5
	ok(t, gone.take(t.Context()))
	must[bool](t)(stepOver(gone.step(t.Context())))
	if _, err := q.ExecutePlan(t.Context(), p.ID, nil); !errors.Is(err, ErrPlanTaken) {
		t.Errorf("taken from one who is there: %v", err)
	}
	leaseRunsOut(t, q, p.ID)
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.Executor != executor() || p.Alone < time.Minute {
		t.Errorf("left alone: %+v", p)
	}
	at := must[*standingPlan](t)(q.standing(t.Context(), p.ID))
	if p = executed(t, q, p.ID); p.State != PlanDone {
		t.Errorf("%+v", p)
	}
	exec(t, q, "update leasetop.redrive_plans set state = 'running', ended_at = null")
	if did, err := gone.batch(t.Context(), "plan_redrive", "plan_skip", at.reached, 5); did != 0 || err != nil {
		t.Errorf("the first one redrove %d: %v", did, err)
	}
	if entries, jobs := noted(t, q, "redriven", ids); entries != 20 || jobs != 20 {
		t.Errorf("%d redrives of %d jobs", entries, jobs)
	}
}

func stepOver(_ time.Duration, over bool, err error) (bool, error) { return over, err }

// leaseRunsOut has an executor not be heard of for a minute and more.
func leaseRunsOut(t testing.TB, q *Queue, id int64) {
	t.Helper()
	exec(t, q, "update leasetop.redrive_plans set executor_until = now() - interval '61 seconds' where id = $1", id)
}

func TestPlanIsInTheOperatorLog(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 10), Filter: "kind:send", Reason: "fixed", Canary: 2, StopAt: new(20)})
	under := must[[]Act](t)(q.Acts(t.Context(), 0, 10))
	if len(under) != 1 || under[0].Ended != nil || under[0].What != "redrive" || under[0].Plan != p.ID || under[0].Asked != 10 || len(under[0].IDs) != 10 || under[0].Filter != "kind:send" || under[0].Reason != "fixed" || under[0].By != ann {
		t.Errorf("%+v", under)
	}
	must[Plan](t)(q.PausePlan(t.Context(), bob, "lunch", p.ID))
	must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
	must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) { ends(t, q, 2, deadAgain(t, q)) })))
	under = must[[]Act](t)(q.Acts(t.Context(), 0, 100))
	for i, a := range under {
		if first := i == len(under)-1; (a.Ended == nil) != first || first != (a.PlanState == PlanStopped) || a.Executor != "" {
			t.Errorf("of a plan that has stopped: %+v", a)
		}
	}
	must[Plan](t)(q.ResumePlan(t.Context(), ann, "so be it", p.ID))
	must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(p Plan) {
		if a := must[[]Act](t)(q.Acts(t.Context(), 0, 100))[len(under)]; a.PlanState != PlanCanary || a.Executor != executor() {
			t.Errorf("of one that is executed: %+v", a)
		}
		ends(t, q, 2, wellDone(t, q))
	})))
	must[Plan](t)(q.UndoPlan(t.Context(), bob, "no", p.ID))
	executed(t, q, p.ID)
	var got []string
	for _, a := range must[[]Act](t)(q.Acts(t.Context(), 0, 100)) {
		if a.Ended == nil || a.Plan != p.ID {
			t.Errorf("%+v", a)
		}
		got = append(got, fmt.Sprintf("%s: %s (%s) %d of %d, %d skipped %s%s", a.By, a.What, a.Reason, a.Done, a.Asked, a.Skips, a.Error, a.Note))
	}
	slices.Reverse(got)
	want := []string{
		"ann@laptop: redrive (fixed) 10 of 10, 0 skipped ",
		"bob@desk: pause (lunch) 0 of 0, 0 skipped ",
		"bob@desk: resume () 0 of 0, 0 skipped ",
		"plan 1: stop (2 of 2 that ended died again, more than 20 %) 0 of 0, 0 skipped ",
		"ann@laptop: resume (so be it) 0 of 0, 0 skipped ",
		"bob@desk: undo (no) 6 of 10, 4 skipped ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Who ends a plan on purpose has not made it fail: its entry says what was done, and who ended it.
func TestPlanEndedOnPurposeIsNoFailureInTheLog(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		end  func(*Queue, int64) (Plan, error)
		note string
	}{
		"cancel": {func(q *Queue, id int64) (Plan, error) { return q.CancelPlan(t.Context(), bob, "no", id) }, "cancelled by bob@desk"},
		"undo":   {func(q *Queue, id int64) (Plan, error) { return q.UndoPlan(t.Context(), bob, "no", id) }, "taken back by bob@desk"},
	} {
		q := open(t)
		p := started(t, q, NewPlan{IDs: deadLetters(t, q, 10), Canary: 4, Wait: true})
		must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, once(PlanCanary, func(Plan) { ends(t, q, 4, wellDone(t, q)) })))
		must[Plan](t)(c.end(q, p.ID))
		acts := must[[]Act](t)(q.Acts(t.Context(), 0, 10))
		if a := acts[len(acts)-1]; len(acts) != 2 || a.What != "redrive" || a.Ended == nil || a.Done != 4 || a.Error != "" || a.Note != c.note || a.PlanState != "" {
			t.Errorf("%s: %+v", what, acts)
		}
	}
}

// Whoever resumes a plan executes it at once, though its executor has not seen yet that
// it was held, or never will: it was killed.
func TestHeldPlanIsResumedBeforeItsExecutorHasLetGo(t *testing.T) {
	t.Parallel()
	for _, rests := range []PlanState{PlanHeld, PlanPaused} {
		t.Run(string(rests), func(t *testing.T) {
			t.Parallel()
			q := open(t)
			p := started(t, q, NewPlan{IDs: deadLetters(t, q, 10), Canary: 2, Wait: rests == PlanHeld})
			before := newExecution(q, p.ID, once(PlanCanary, func(Plan) { ends(t, q, 2, wellDone(t, q)) }))
			for state := p.State; state != rests; {
				must[bool](t)(stepOver(before.step(t.Context())))
				if state = must[Plan](t)(q.Plan(t.Context(), p.ID)).State; state == PlanCanary && rests == PlanPaused {
					must[Plan](t)(q.PausePlan(t.Context(), bob, "", p.ID))
					state = PlanPaused
				}
			}
			if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.Executor != "" {
				t.Errorf("nothing is to be done, and %s executes it", p.Executor)
			}
			must[Plan](t)(q.ResumePlan(t.Context(), bob, "", p.ID))
			after := newExecution(q, p.ID, nil)
			ok(t, after.take(t.Context()))
			if _, _, err := before.step(t.Context()); !errors.Is(err, ErrPlanTaken) {
				t.Errorf("the first one goes on: %v", err)
			}
			before.release(t.Context())
			if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.Executor != executor() {
				t.Error("the first one has let go for the second one")
			}
		})
	}
}
