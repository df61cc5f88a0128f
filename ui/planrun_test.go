package ui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestPlanThatRunsHereIsOnEveryTab(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	run := &planRun{id: 14, told: make(chan struct{}, 1), over: make(chan struct{})}
	s.app.plans.runs = map[int64]*planRun{14: run}
	p := samplePlan()
	run.tell(p, nil)
	s.send(planToldMsg{run})
	s.sees("plan 14  4,822 of 40,112", "about 12 min left")
	s.press("4")
	s.sees("plan 14  4,822 of 40,112")
	s.press("q")
	s.sees("QUIT WHILE PLAN 14 RUNS", "still waiting", "leasetop plan resume")
	s.later("n")
	run.tell(p, errors.New("connection refused"))
	s.send(planToldMsg{run})
	s.sees("✗ not reached: connection refused")
	if got, want := s.app.leftPlans(), "plan 14 stands still, redriven 4,812 of 40,112, 10 skipped, 35,290 still waiting, 12 died again: `leasetop plan resume 14`, or c on its page, goes on"; len(got) != 1 || got[0] != want {
		t.Errorf("on the way out it says %q", got)
	}
}

func TestStoppedPlanSaysSoAndWaits(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) {
		p.State, p.StateBy, p.Why = queue.PlanStopped, "", "4 of 5 that ended are dead again"
	})
	s := newStage(t, w, 120, 36)
	s.app.plans.last = 14
	s.run(s.app.executePlan(14))
	s.sees("✗ plan 14 stopped by itself: 4 of 5 that ended are dead again", " stopped   plan 14  redriven 4,812 of 40,112")
}

func TestUndoOfTheLatestRedriveTakesBackWhatIsFree(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	if why := s.app.undoKey().why; why == "" {
		t.Error("there is something to undo before anything was redriven")
	}
	s.press("3", "tab", "space", "space", "r")
	s.later("y")
	s.sees("✓ redrove 2 of 2 (plan 14)")
	s.run(s.app.undoKey().do())
	s.sees("UNDO PLAN 14", "2 jobs redriven and not claimed yet")
	s.later("y")
	s.sees("took back 2 jobs")
	if why := s.app.undoKey().why; why == "" {
		t.Error("an undone plan can be undone again")
	}
}

func TestFailedStartSaysThatNothingWasDone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 120, 36)
	s.press("3", "tab", "r")
	w.down = errors.New("connection refused")
	s.later("y")
	s.sees("✗ nothing was redriven: connection refused")
}

// executor is a world in which an execution lasts until it is told to end.
type executor struct {
	*world
	began, ended chan struct{}
}

func (e executor) ExecutePlan(ctx context.Context, id int64, told func(queue.Plan)) (queue.Plan, error) {
	close(e.began)
	<-ctx.Done()
	close(e.ended)
	return queue.Plan{}, ctx.Err()
}

func TestQuittingEndsAnExecution(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := executor{withPlan(newWorld(), nil), make(chan struct{}), make(chan struct{})}
	a := newApp(ctx, Config{Feed: e, Jobs: e, By: "ann@shop1"})
	a.executePlan(14)
	run := a.plans.runs[14]
	go func() {
		if a.plans.work.begin() {
			defer a.plans.work.end()
			_, _ = a.carryOut(run)
		}
	}()
	<-e.began
	cancel()
	a.plans.work.close(time.Minute)
	select {
	case <-e.ended:
	default:
		t.Error("the program would have ended before its execution")
	}
}

// What an execution that ends says of its plan was read before somebody resumed that.
func TestPlanResumedWhileItsExecutionEndsIsExecuted(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) { p.State = queue.PlanHeld })
	s := newStage(t, w, 120, 36)
	run := &planRun{id: 14, told: make(chan struct{}, 1), over: make(chan struct{})}
	close(run.over)
	s.app.plans.runs = map[int64]*planRun{14: run}
	held := *w.plan(14)
	w.plan(14).State = queue.PlanRunning
	delete(w.plans.stay, 14)
	w.plans.jobs[14] = []queue.PlanJob{{ID: 1, State: "waiting"}, {ID: 2, State: "waiting"}}
	s.send(planActedMsg{id: 14, what: planGoesOn, plan: *w.plan(14)})
	s.send(planRanMsg{run: run, plan: held})
	s.sees("redrove 4,814 of 40,112 (plan 14)")
}
