package cli

import (
	"testing"

	"github.com/leasetop/leasetop/workers/scenario"
)

func TestSoakSaysHowItStands(t *testing.T) {
	t.Parallel()
	pic := scenario.Picture{
		Bars:       []scenario.Bar{{Name: "crash", Value: 3}, {Name: "kill -9", Value: 2}},
		Depths:     []scenario.Depth{{Completed: 40, Pending: 2, Processing: 5}},
		Invariants: scenario.Invariants{Doubled: 1},
	}
	if got, want := soakStands(pic), "faults 5 · done 40 · waiting 2 · leased 5 · lost 0 · double effects 1 · overlaps 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	pic.Depths[0].Dead = 7
	if got, want := soakStands(pic), "faults 5 · done 40 · waiting 2 · leased 5 · dead 7 · lost 0 · double effects 1 · overlaps 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	pic.Invariants.Missed = true
	if got, want := soakStands(pic), "faults 5 · done 40 · waiting 2 · leased 5 · dead 7 · lost, double effects, overlaps: not counted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := soakBroke(pic), "crash 3 · kill -9 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
