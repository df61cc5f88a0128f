package scenario_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// The server of a play that was killed is removed by any play, and one that is held is not.
func TestServersOfKilledPlaysAreSweptAway(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	g.Dir = t.TempDir()
	old := time.Now().Add(-2 * scenario.BeingMade)
	for _, name := range []string{"play-dead-00000a", "play-young-00000b", "main"} {
		if err := os.MkdirAll(filepath.Join(g.Dir, name, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name != "play-young-00000b" {
			if err := os.Chtimes(filepath.Join(g.Dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	scenario.SweepServers(t.Context(), g.Dir)
	var left []string
	folders, err := local.Folders(g.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		left = append(left, filepath.Base(folder))
	}
	if want := []string{"main", "play-young-00000b"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	young := filepath.Join(g.Dir, "play-young-00000b")
	if err := os.Chtimes(young, old, old); err != nil {
		t.Fatal(err)
	}
	play := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{Stepped: true})
	scenariotest.Reach(t, play, 0)
	eventually(t, "a play that needs no server sweeps too", func() bool {
		_, err := os.Stat(young)
		return errors.Is(err, os.ErrNotExist)
	})
	play.Stop()
	play.Result()
}
