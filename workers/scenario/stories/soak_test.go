package stories

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestShortSoakKeepsEveryPromise(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks things for 20 s")
	}
	t.Parallel()
	play := scenario.Start(t.Context(), Soak(20*time.Second), scenariotest.Ground(t), scenario.Options{Seed: 1, Patience: 3})
	r := play.Result()
	t.Logf("%+v", r)
	for _, bar := range play.Picture().Bars {
		t.Logf("%s: %.0f", bar.Name, bar.Value)
	}
	if !r.OK {
		t.Error(r.Err)
	}
}

// However much is broken when a soak is stopped, nothing of it is left.
func TestStoppedSoakLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	g := scenariotest.Ground(t)
	play := scenario.Start(t.Context(), Soak(time.Hour), g, scenario.Options{Seed: 2})
	scenariotest.Await(t, play, "something breaks", func(p scenario.Picture) bool { return len(p.Bars) >= 3 })
	if len(scenariotest.Servers(t, g)) == 0 {
		t.Error("it has no server where it is looked for")
	}
	play.Stop()
	if r := play.Result(); !errors.Is(r.Err, scenario.ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
		t.Errorf("it ended with %v", r.Err)
	}
	if left := scenariotest.Servers(t, g); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

// Where nothing was watched there is no worst of it, least of all none.
func TestRecoveryOfNothingIsNoFigure(t *testing.T) {
	t.Parallel()
	if got, err := worstOf(workers.Recovery{Judged: 1, Worst: 20 * time.Millisecond, Unwatched: 3}); got != 20 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := worstOf(workers.Recovery{Unwatched: 3}); err == nil || errors.Is(err, scenario.ErrNothingMeasured) || !strings.Contains(err.Error(), "all 3 ") {
		t.Errorf("of unwatched ones alone: %v", err)
	}
	if _, err := worstOf(workers.Recovery{}); !errors.Is(err, scenario.ErrNothingMeasured) {
		t.Errorf("of none: %v", err)
	}
}
