package stories

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// runsOf plays a story and returns what its handlers did, in order.
func runsOf(t *testing.T, name string) []string {
	t.Helper()
	sc, _ := ByName(name)
	play := scenario.Start(t.Context(), sc, scenariotest.Ground(t), scenario.Options{Seed: 7, Patience: 10})
	if r := play.Result(); !r.OK {
		t.Fatalf("%+v", r)
	}
	var seen []string
	for _, one := range play.Picture().Runs {
		text := fmt.Sprintf("%s attempt %d %s", one.Worker, one.Attempt, one.End)
		if !one.Dead.IsZero() {
			text += " dead"
		}
		if one.Ended.Before(one.Began) || one.Ended.Sub(one.Began) > time.Hour {
			t.Errorf("%s ended at %v, and began at %v", text, one.Ended, one.Began)
		}
		seen = append(seen, text)
	}
	slices.Sort(seen)
	return seen
}

func TestRunsSayHowTheyEnded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"zombie":    {"w1 attempt 1 fenced", "w2 attempt 2 done"},
		"partition": {"w1 attempt 1 stopped", "w2 attempt 1 stopped"},
		"poison":    {"w1 attempt 1 crashed", "w1 attempt 1 failed dead", "w2 attempt 2 crashed", "w3 attempt 3 crashed dead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := runsOf(t, name)
			for _, text := range want {
				if !slices.Contains(seen, text) {
					t.Errorf("no run %q of %q", text, seen)
				}
			}
		})
	}
}
