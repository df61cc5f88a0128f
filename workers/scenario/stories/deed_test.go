package stories

import (
	"context"
	"errors"
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// What a deed leads to is looked at when it is over, and not before; that it failed is said.
func TestDeedIsJudgedWhenItIsOver(t *testing.T) {
	t.Parallel()
	var d deed
	looked, failing := 0, errors.New("no such table")
	holds := d.done(func() (bool, string) {
		looked++
		return true, ""
	})
	judged := func(ok bool, err error) scenario.Expect {
		return scenario.Expect{Text: "judged", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			select {
			case <-d.over:
			default:
				if ok, _, err := holds(ctx, s); ok || !errors.Is(err, errGoesOn) || looked > 0 {
					t.Errorf("before its end it is judged: %v, %v", ok, err)
				}
				return false, "", nil
			}
			if is, _, why := holds(ctx, s); is != ok || !errors.Is(why, err) {
				t.Errorf("it is judged %v, %v; want %v, %v", is, why, ok, err)
			}
			looked = 0
			return true, "", nil
		}}
	}
	play := scenario.Start(t.Context(), scenario.Scenario{Name: "deed", Needs: scenario.Queue, Steps: []scenario.Step{
		{Do: d.doing(func(context.Context, *scenario.Stage) error { return nil }), Expect: []scenario.Expect{judged(true, nil)}},
		{Do: d.doing(func(context.Context, *scenario.Stage) error { return failing }), Expect: []scenario.Expect{judged(false, failing)}},
	}}, scenariotest.Ground(t), scenario.Options{Seed: 1, Patience: 10})
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}

// A deed ends with its play.
func TestDeedEndsWithThePlay(t *testing.T) {
	t.Parallel()
	var d deed
	play := scenario.Start(t.Context(), scenario.Scenario{Name: "deed", Needs: scenario.Queue, Steps: []scenario.Step{
		{Do: d.doing(func(ctx context.Context, _ *scenario.Stage) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})},
	}}, scenariotest.Ground(t), scenario.Options{Seed: 1})
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
	select {
	case <-d.over:
	default:
		t.Error("it goes on after its play")
	}
}
