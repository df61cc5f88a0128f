package stories

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// Those that need servers of their own take longer.
func TestServerScenariosPass(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	for _, sc := range All() {
		if sc.Needs != scenario.Server {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			if r := perform(t.Context(), t, sc.Name, scenariotest.Ground(t), 10); !r.OK {
				t.Errorf("%v", r.Err)
			}
		})
	}
}

// Whatever state its servers are in when a play is stopped, none of them is left.
func TestStoppedPlayLeavesNoServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	for _, one := range []struct {
		scenario string
		step     int
	}{
		{"restart", 1},
		{"failover", 2}, // the primary is dead, the standby takes no writes
	} {
		t.Run(one.scenario, func(t *testing.T) {
			t.Parallel()
			g := scenariotest.Ground(t)
			sc, _ := ByName(one.scenario)
			play := scenario.Start(t.Context(), sc, g, scenario.Options{Seed: 1, Stepped: true, Patience: 10})
			scenariotest.Reach(t, play, one.step)
			if len(scenariotest.Servers(t, g)) == 0 {
				t.Fatal("it has no servers where they are looked for")
			}
			play.Stop()
			if r := play.Result(); !errors.Is(r.Err, scenario.ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
				t.Errorf("it ended with %v", r.Err)
			}
			if left := scenariotest.Servers(t, g); len(left) > 0 {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}
