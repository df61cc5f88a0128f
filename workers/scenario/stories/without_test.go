package stories

import (
	"testing"

	"github.com/leasetop/leasetop/workers/internal/without"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// Each scenario proves a protection: with that taken out, it fails.
func TestScenariosFailWithoutWhatTheyProve(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		protection without.Protection
		scenario   string
		fails      string // the assertion or measure that says so
	}{
		{without.Reclaim, "crash", "the lease runs out, the job goes back to pending"},
		{without.Mark, "vacuum", "from the mark: 5 times as quick as that"},
		{without.SkipLocked, "race", "SKIP LOCKED: hardly anybody waits for a lock"},
		{without.Reclaim, "kill9", "w2 holds all 20, at attempt 2"},
		{without.Reclaim, "poison", "w2 holds both, each at its second attempt"},
		{without.Fencing, "zombie", "w1's late completion is fenced: it matches no row"},
		{without.Trust, "partition", "w1 and w2 stop their handlers"},
		{without.Backoff, "flaky", "c: none failed for good in the outage"},
		{without.Canary, "redrive", "the canary dies again, and plan 1 stops by itself"},
	} {
		t.Run(string(one.protection)+" in "+one.scenario, func(t *testing.T) {
			t.Parallel()
			r := perform(without.With(t.Context(), one.protection), t, one.scenario, scenariotest.Ground(t), 2)
			if r.OK {
				t.Fatalf("%s passes without %s", one.scenario, one.protection)
			}
			if first := firstFailed(r); first != one.fails {
				t.Errorf("without %s it is %q that fails first; %s", one.protection, first, r.Error)
			}
		})
	}
}

// firstFailed is the first that does not hold, of a play that was played so far.
func firstFailed(r scenario.Result) string {
	for _, a := range r.Assertions {
		if !a.OK {
			return a.Text
		}
	}
	for name, m := range r.Measures {
		if !m.OK {
			return name
		}
	}
	return ""
}
