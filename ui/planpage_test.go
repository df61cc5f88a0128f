package ui

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/term"
)

// withPlan has the world know the sample plan, changed as wanted.
func withPlan(w *world, change func(p *queue.Plan)) *world {
	p := samplePlan()
	if change != nil {
		change(&p)
	}
	w.plans.list = append(w.plans.list, p)
	w.plans.jobs = map[int64][]queue.PlanJob{p.ID: samplePlanJobs()}
	w.plans.stay = map[int64]error{p.ID: nil}
	return w
}

// opens shows the plan's page.
func (s *stage) opens(id int64) {
	s.t.Helper()
	s.app.openOver(s.app.newPlanPage(id))
	s.pull()
	s.pull() // the list of its jobs
}

func TestPlanPageIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range planSizes {
		for _, c := range []struct {
			name   string
			change func(p *queue.Plan)
		}{
			{"running", nil},
			{"canary", func(p *queue.Plan) {
				p.State = queue.PlanCanary
				p.PlanCounts = queue.PlanCounts{Total: 40_112, Waiting: 40_107, Redriven: 5, Completed: 2, Running: 2, Pending: 1}
			}},
			{"held", func(p *queue.Plan) {
				p.State, p.StateBy, p.Executor = queue.PlanHeld, "", ""
				p.PlanCounts = queue.PlanCounts{Total: 40_112, Waiting: 40_107, Redriven: 5, Completed: 5}
			}},
			{"stopped", func(p *queue.Plan) {
				p.State, p.StateBy, p.Executor, p.Why = queue.PlanStopped, "", "", "4 of 5 that ended are dead again, 80 %: more than 20 %"
				p.PlanCounts = queue.PlanCounts{Total: 40_112, Waiting: 40_107, Redriven: 5, Completed: 1, DiedAgain: 4}
			}},
			{"alone", func(p *queue.Plan) { p.Alone = 12 * time.Second }},
			{"undone", func(p *queue.Plan) {
				ended := noon.Add(-30 * time.Second)
				p.State, p.Executor, p.EndedAt, p.ChangedAt = queue.PlanUndone, "", &ended, ended
				p.PlanCounts = queue.PlanCounts{Total: 40_112, Left: 35_290, Skipped: 10, Redriven: 4120, Undone: 692, Completed: 4100, DiedAgain: 12, Running: 8}
			}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, withPlan(newWorld(), c.change), size[0], size[1])
				s.press("3")
				s.opens(14)
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestPlanListIsDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range planSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for id := int64(1); id < 14; id++ {
				p := samplePlan()
				p.ID, p.State, p.Executor = id, queue.PlanDone, ""
				p.CreatedAt = noon.Add(-time.Duration(15-id) * time.Hour)
				p.PlanCounts = queue.PlanCounts{Total: id * 100, Redriven: id*100 - id, Skipped: id}
				if id%4 == 0 {
					p.Filter, p.Reason = "", "by hand"
				}
				w.plans.list = append(w.plans.list, p)
			}
			w.plans.list[11].State, w.plans.list[11].StateBy = queue.PlanStopped, ""
			withPlan(w, func(p *queue.Plan) { p.Alone = time.Minute })
			s := newStage(t, w, size[0], size[1])
			s.run(s.app.plansKey().do())
			s.pull()
			term.Golden(t, s.screen())
		})
	}
}

func TestPlanIsPausedResumedAndUndone(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.press("space")
	s.sees("plan 14 paused", "paused   by ann@shop1", "c resume")
	delete(w.plans.stay, 14)
	w.plans.jobs[14] = []queue.PlanJob{{ID: 1, State: "waiting"}, {ID: 2, State: "waiting"}}
	s.press("c")
	if got, want := s.log(), "pause plan 14 by ann@shop1; resume plan 14 by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("redrove 4,814 of 40,112 (plan 14), skipped 10")
	s.press("u")
	s.sees("UNDO PLAN 14", "694 jobs redriven and not claimed yet")
	s.later("y")
	s.sees("took back 2 jobs")
}

func TestSecondOperatorOnAPlanIsTold(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	s.opens(14)
	w.plan(14).State, w.plan(14).StateBy = queue.PlanPaused, "bob@shop2"
	s.press("space") // what is shown is a moment old
	s.sees("plan 14 is paused, by bob@shop2")
	s.sees("paused   by bob@shop2")
}

func TestPlanOfAnExecutorThatIsGoneIsTakenOver(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) { p.Alone = 12 * time.Second })
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.sees("! by nobody: c takes it over · bob@shop2, who did, is silent for 12s beyond its lease", "c take over")
	w.plans.stay[14] = fmt.Errorf("carl@shop3 executes plan 14: one process does at a time%w", errText{queue.ErrPlanTaken})
	s.press("c")
	s.sees("carl@shop3 executes plan 14: one process does at a time: it goes on there")
	delete(w.plans.stay, 14)
	s.press("c")
	s.sees("(plan 14)", "done")
}

// Whoever asks for an undo has it, also where another dashboard goes on with it.
func TestUndoThatAnotherProcessCarriesOutIsAsked(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) { p.Executor = "ann@shop1 pid 4711" })
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.sees("by ann@shop1 pid 4711")
	w.plans.stay[14] = fmt.Errorf("ann@shop1 pid 4711 executes plan 14: one process does at a time%w", errText{queue.ErrPlanTaken})
	s.press("u")
	s.later("y")
	s.sees("plan 14: asked: ann@shop1 pid 4711 takes back what nobody has claimed yet")
	s.seesNot("one process does at a time")
}

// An undo whose process was killed goes on here, by either key.
func TestUndoThatNobodyExecutesIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"c"}, {"u", "y"}} {
		w := withPlan(newWorld(), func(p *queue.Plan) {
			p.State, p.StateBy, p.Executor, p.Alone = queue.PlanUndoing, "carl@shop3", "carl@shop3 pid 7", time.Minute
		})
		delete(w.plans.stay, 14)
		s := newStage(t, w, 120, 36)
		s.opens(14)
		s.press(keys[0])
		for _, k := range keys[1:] {
			s.later(k)
		}
		s.sees("undone")
		if p := w.plan(14); p.State != queue.PlanUndone {
			t.Errorf("%v: it is %s", keys, p.State)
		}
	}
}

// One that somebody executes is left to him.
func TestUndoThatSomebodyExecutesIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) { p.State, p.StateBy = queue.PlanUndoing, "carl@shop3" })
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.press("u", "y")
	if got := s.log(); got != "" {
		t.Errorf("did %q", got)
	}
}

// countedPlans is a world in which the counts of what became of a plan's jobs can be told.
type countedPlans struct {
	*world
	n int
}

func (c *countedPlans) Plan(ctx context.Context, id int64) (queue.Plan, error) {
	c.n++
	return c.world.Plan(ctx, id)
}

func (c *countedPlans) Plans(ctx context.Context, before int64, limit int) ([]queue.Plan, error) {
	plans, err := c.world.Plans(ctx, before, limit)
	for i := range plans {
		p := &plans[i]
		p.Completed, p.DiedAgain, p.Running, p.Pending, p.Gone = 0, 0, 0, 0, 0
	}
	return plans, err
}

// What takes seconds to count is counted rarely, and said to be old; how far the plan is is read all the time.
func TestWhatBecameOfALargePlanIsCountedRarely(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	c := &countedPlans{world: w}
	s.app.cfg.Jobs = c
	s.opens(14)
	s.app.plans.of(14).cost = 4 * time.Second
	begun := c.n
	for range 38 {
		w.plan(14).Redriven, w.plan(14).Waiting = w.plan(14).Redriven+50, w.plan(14).Waiting-50
		w.plan(14).Completed += 50
		s.pass(time.Second)
	}
	s.sees("completed 4,100", "running 8", "pending 2,592", "waiting 33,390", "outcomes as of 38s ago")
	if c.n != begun {
		t.Errorf("counted %d times within ten times what it takes", c.n-begun)
	}
	for i := 0; i < 3 && c.n == begun; i++ {
		s.pass(time.Second)
	}
	s.sees("completed 6,000")
	s.seesNot("outcomes as of")
}

// A plan that is done has not done well when its jobs died again.
func TestPlanWhoseJobsDiedAgainIsNotJustDone(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), func(p *queue.Plan) {
		p.State, p.Executor, p.EndedAt = queue.PlanDone, "", &p.ChangedAt
		p.PlanCounts = queue.PlanCounts{Total: 3, Redriven: 2, Skipped: 1, DiedAgain: 2}
	})
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.sees("done   2 of 2 died again")
}

// errText is an error without words of its own.
type errText struct{ is error }

func (errText) Error() string          { return "" }
func (e errText) Is(target error) bool { return target == e.is }

func TestCancellingAPlanIsGrave(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	s.opens(14)
	s.press("C", "y")
	if got := s.log(); got != "" {
		t.Fatalf("a confirmation at once did: %s", got)
	}
	s.later("y")
	if got, want := s.log(), "cancel plan 14 by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.press("u")
	s.sees("UNDO PLAN 14", "has not reached stays dead")
}

func TestUnreachablePlanKeepsItsFiguresAndTheirAge(t *testing.T) {
	t.Parallel()
	w := withPlan(newWorld(), nil)
	s := newStage(t, w, 120, 36)
	s.opens(14)
	w.down = errors.New("connection refused")
	s.pass(2 * time.Second)
	s.pass(9 * time.Second)
	s.sees("✗ not reached, tried again every 2s: connection refused", "stale: 11s old", "completed 4,100")
}

func TestJobsOfAPlanThatWentWrongAreOpened(t *testing.T) {
	t.Parallel()
	s := newStage(t, withPlan(newWorld(), nil), 120, 36)
	s.opens(14)
	s.press("j", "enter")
	s.sees("JOB 51317")
	s.press("esc")
	s.sees("PLAN 14", "▸51317")
}

// CASES "Terminal injection", "Wide text", "Cut styled text": what the database holds of a
// plan is text, in every window.
func TestHostileTextInAPlanIsHarmless(t *testing.T) {
	t.Parallel()
	for _, evil := range hostile {
		for _, size := range [][2]int{{120, 36}, {80, 24}} {
			w := withPlan(newWorld(), func(p *queue.Plan) {
				p.State, p.Filter, p.Reason, p.By, p.StateBy, p.Why, p.Executor = queue.PlanPaused, evil, evil, evil, evil, evil, evil
			})
			for i := range w.plans.jobs[14] {
				w.plans.jobs[14][i].Reason = evil
			}
			s := newStage(t, w, size[0], size[1])
			s.app.clustered, s.app.plans.last = true, 14
			s.press("3")
			s.opens(14)
			harmless(t, s)
			s.press("u")
			harmless(t, s)
			s.press("esc", "esc")
			harmless(t, s) // the line under the tabs
			s.run(s.app.plansKey().do())
			s.pull()
			harmless(t, s)
			w.plan(14).State, w.plan(14).Alone = queue.PlanRunning, time.Minute
			s.opens(14)
			harmless(t, s)
			s.asks(3)
			s.press("shift+tab")
			s.app.pasted(evil)
			harmless(t, s)
		}
	}
}
