package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local"
)

// Those that need servers of their own take longer, and are played one after another.
func TestServerScenariosPass(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	g := ground(t)
	for _, sc := range All() {
		if sc.Needs != Server {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			if r := perform(t.Context(), t, sc.Name, g, 10); !r.OK {
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
	g := ground(t)
	for _, one := range []struct {
		scenario string
		step     int
	}{
		{"restart", 1},
		{"failover", 2}, // the primary is dead, the standby takes no writes
	} {
		t.Run(one.scenario, func(t *testing.T) {
			sc, _ := ByName(one.scenario)
			play := Start(t.Context(), sc, g, Options{Seed: 1, Stepped: true, Patience: 10})
			reach(t, play, one.step)
			servers := func() []string {
				folders, _ := filepath.Glob(filepath.Join(g.Dir, serverPrefix+"*"))
				return folders
			}
			if len(servers()) == 0 {
				t.Fatal("it has no servers where they are looked for")
			}
			play.Stop()
			if r := play.Result(); !errors.Is(r.Err, ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
				t.Errorf("it ended with %v", r.Err)
			}
			if left := servers(); len(left) > 0 {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}

// The server of a play that was killed is removed by any play, and one that is held is not.
func TestServersOfKilledPlaysAreSweptAway(t *testing.T) {
	t.Parallel()
	g := ground(t)
	g.Dir = t.TempDir()
	old := time.Now().Add(-2 * beingMade)
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
	SweepServers(t.Context(), g.Dir)
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
	play := Start(t.Context(), still(Queue), g, Options{Stepped: true})
	reach(t, play, 0)
	eventually(t, "a play that needs no server sweeps too", func() bool {
		_, err := os.Stat(young)
		return errors.Is(err, os.ErrNotExist)
	})
	play.Stop()
	play.Result()
}
