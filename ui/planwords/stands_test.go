package planwords

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestStandsNamesWhoAndWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    queue.Plan
		want string
	}{
		{queue.Plan{State: queue.PlanRunning, Canary: 5, CanaryLeft: 5, PlanCounts: queue.PlanCounts{Total: 31}}, "redrives the first 5"},
		{queue.Plan{State: queue.PlanRunning, Canary: 5, CanaryLeft: 2, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 3, Skipped: 9}}, "redrives the first 5"},
		{queue.Plan{State: queue.PlanCanary, Canary: 5, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 5, Skipped: 9}}, "the first 5 are back: it waits until all of them have ended"},
		{queue.Plan{State: queue.PlanRunning, Canary: 5, CanaryLeft: 2, CanaryAfter: 8, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 11, Skipped: 9}}, "redrives the next 5"},
		{queue.Plan{State: queue.PlanCanary, CanaryAfter: 8, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 18}}, "the next 10 are back: it waits until all of them have ended"},
		{queue.Plan{State: queue.PlanHeld, CanaryAfter: 8, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 18}}, "the next 10 have ended well: it waits for somebody to say go on"},
		{queue.Plan{State: queue.PlanRunning, CanaryAfter: 8, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 18}}, "redrives the rest"},
		{queue.Plan{State: queue.PlanRunning, Canary: 5, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 5}}, "redrives the rest"},
		{queue.Plan{State: queue.PlanRunning, PlanCounts: queue.PlanCounts{Total: 31}}, "redrives"},
		{queue.Plan{State: queue.PlanHeld, Why: "5 of the 5 that went first are gone"}, "it waits for somebody to say go on: 5 of the 5 that went first are gone"},
		{queue.Plan{State: queue.PlanPaused, StateBy: "bob@shop2", Why: "mail is down"}, "paused by bob@shop2: mail is down"},
		{queue.Plan{State: queue.PlanStopped, Why: "3 of 5 are dead again"}, "stopped by itself: 3 of 5 are dead again"},
		{queue.Plan{State: queue.PlanUndone, StateBy: "ann@shop1"}, "undone by ann@shop1"},
	} {
		if got := Stands(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

func TestCameCountsWhatWasTakenBackApart(t *testing.T) {
	t.Parallel()
	p := queue.Plan{PlanCounts: queue.PlanCounts{Total: 31, Redriven: 9, Undone: 20, Skipped: 1, Left: 1, DiedAgain: 2}}
	if got, want := Came(p), "redriven 9 of 31, 20 taken back, 1 skipped, 1 left dead, 2 died again"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSpeedIsThatOfTheLastSeconds(t *testing.T) {
	t.Parallel()
	var s Speed
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	plan := queue.Plan{State: queue.PlanRunning, PlanCounts: queue.PlanCounts{Total: 10_000}}
	if _, known := s.PerSecond(); known {
		t.Error("a speed of nothing seen")
	}
	for i := range 20 {
		plan.Redriven = int64(i * 10)
		if i >= 10 {
			plan.Redriven = int64(90 + (i-9)*100)
		}
		plan.Waiting = plan.Total - plan.Redriven
		s.Note(plan, at.Add(time.Duration(i)*time.Second))
	}
	if got, _ := s.PerSecond(); got != 100 {
		t.Errorf("%v a second, want 100", got)
	}
	if got, _ := s.Left(plan); got != time.Duration(plan.Waiting)*10*time.Millisecond {
		t.Errorf("%v left", got)
	}
	plan.State = queue.PlanPaused
	if _, known := s.Left(plan); known {
		t.Error("a paused plan is said to end")
	}
}

// How fast it was before a pause says nothing of how fast it goes on.
func TestSpeedBeginsAnewWhenAPlanGoesOn(t *testing.T) {
	t.Parallel()
	var s Speed
	at := time.Unix(0, 0)
	p := queue.Plan{State: queue.PlanRunning, Pace: 50, PlanCounts: queue.PlanCounts{Waiting: 1000}}
	for range 4 {
		p.Redriven += 500
		at = at.Add(time.Second)
		s.Note(p, at)
	}
	if speed, known := s.PerSecond(); !known || speed != 500 {
		t.Fatalf("%v, %v", speed, known)
	}
	p.State = queue.PlanPaused
	s.Note(p, at.Add(time.Minute))
	p.State = queue.PlanRunning
	s.Note(p, at.Add(2*time.Minute))
	if speed, known := s.PerSecond(); known {
		t.Errorf("%v a second at once", speed)
	}
	if left, known := s.Left(p); !known || left != 20*time.Second {
		t.Errorf("%v left, %v: its pace says 20 s", left, known)
	}
}

// How long is left is what the pace says until the plan itself has shown otherwise, also
// after a stop: what was before that is no measure.
func TestTimeLeftIsOfThePaceUntilItIsMeasured(t *testing.T) {
	t.Parallel()
	var s Speed
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	plan := queue.Plan{State: queue.PlanRunning, Pace: 50, PlanCounts: queue.PlanCounts{Total: 100_000}}
	after := func(d time.Duration, moved int64) time.Duration {
		at = at.Add(d)
		plan.Redriven += moved
		plan.Waiting = plan.Total - plan.Redriven
		s.Note(plan, at)
		left, _ := s.Left(plan)
		return left / time.Duration(plan.Waiting)
	}
	const byPace, measured = 20 * time.Millisecond, 100 * time.Millisecond
	for i, got := range []time.Duration{after(0, 0), after(500*time.Millisecond, 500), after(time.Second, 0)} {
		if got != byPace {
			t.Errorf("%d: %v a job", i, got)
		}
	}
	for range 6 {
		after(time.Second, 10)
	}
	if got := after(time.Second, 10); got != measured {
		t.Errorf("measured: %v a job", got)
	}
	plan.State = queue.PlanStopped
	after(time.Second, 0)
	plan.State = queue.PlanRunning
	if got := after(time.Second, 0); got != byPace {
		t.Errorf("after a stop: %v a job", got)
	}
}

func TestEntryOfAPlanThatStandsStillSaysWhy(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]queue.Act{
		"under way, or its process is gone":             {},
		"its plan is paused":                            {PlanState: queue.PlanPaused},
		"its plan has stopped by itself":                {PlanState: queue.PlanStopped},
		"its plan waits for somebody to say go on":      {PlanState: queue.PlanHeld},
		"nobody executes its plan":                      {PlanState: queue.PlanCanary},
		"under way: ann@laptop pid 7 executes its plan": {PlanState: queue.PlanRunning, Executor: "ann@laptop pid 7"},
		"under way: bob@desk pid 71 executes its plan":  {PlanState: queue.PlanUndoing, Executor: "bob@desk pid 71"},
	} {
		if got := UnderWay(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
