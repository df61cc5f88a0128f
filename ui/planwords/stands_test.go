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
		{queue.Plan{State: queue.PlanRunning, Canary: 5, PlanCounts: queue.PlanCounts{Total: 31}}, "redrives the first 5"},
		{queue.Plan{State: queue.PlanRunning, Canary: 5, PlanCounts: queue.PlanCounts{Total: 31, Redriven: 5}}, "redrives the rest"},
		{queue.Plan{State: queue.PlanRunning, PlanCounts: queue.PlanCounts{Total: 31}}, "redrives"},
		{queue.Plan{State: queue.PlanPaused, StateBy: "bob@shop2", Why: "mail is down"}, "paused by bob@shop2: mail is down"},
		{queue.Plan{State: queue.PlanStopped, Why: "3 of 5 are dead again"}, "stopped by itself: 3 of 5 are dead again"},
		{queue.Plan{State: queue.PlanUndone, StateBy: "ann@shop1"}, "undone by ann@shop1"},
	} {
		if got := Stands(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

func TestCameCountsWhatWasTakenBackAsRedriven(t *testing.T) {
	t.Parallel()
	p := queue.Plan{PlanCounts: queue.PlanCounts{Total: 31, Redriven: 9, Undone: 20, Skipped: 1, Left: 1, DiedAgain: 2}}
	if got, want := Came(p), "redriven 29 of 31, 20 taken back, 1 skipped, 1 left dead, 2 died again"; got != want {
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
