package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// What an assertion is to be seen within is no matter of how long a look at it takes.
func TestWhatIsSeenTooLateDoesNotHold(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	looked := 0
	for what, holds := range map[string]func(ctx context.Context) bool{
		"a look that begins in time, and goes on": func(ctx context.Context) bool { <-ctx.Done(); return true },
		"a look that begins after the deadline": func(context.Context) bool {
			if looked++; looked == 1 {
				time.Sleep(2 * scenario.LookEvery) // as one that hangs
			}
			return looked > 1
		},
	} {
		story := scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{{Expect: []scenario.Expect{{
			Text: "it is seen", Within: scenario.LookEvery,
			Holds: func(ctx context.Context, _ *scenario.Stage) (bool, string, error) { return holds(ctx), "", nil },
		}}}}}
		r := scenario.Start(t.Context(), story, g, scenario.Options{}).Result()
		if r.OK || r.Assertions[0].OK || r.Error != "" {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

// Those before it may take longer than it may itself: it is looked at all the same.
func TestAssertionWhoseTurnComesLateHasOneLook(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	for _, want := range []bool{true, false} {
		looks := 0
		story := scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{{Expect: []scenario.Expect{
			{Text: "first", Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
				time.Sleep(2 * time.Millisecond)
				return true, "", nil
			}},
			{Text: "then", Within: time.Millisecond, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
				looks++
				return want, "", nil
			}},
		}}}}
		if r := scenario.Start(t.Context(), story, g, scenario.Options{}).Result(); r.OK != want || looks != 1 {
			t.Errorf("%d looks: %+v", looks, r)
		}
	}
}

// Nobody waits for what can no longer come.
func TestAssertionThatIsFinalFailsAtOnce(t *testing.T) {
	t.Parallel()
	looks := 0
	story := scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{{Expect: []scenario.Expect{
		{Text: "twice as quick", Within: time.Hour, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
			looks++
			return false, "half as quick", scenario.ErrFinal
		}},
	}}}}
	r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{}).Result()
	if a := r.Assertions[0]; r.OK || a.OK || a.Seen != "half as quick" || looks != 1 {
		t.Errorf("%d looks: %+v", looks, r)
	}
}
