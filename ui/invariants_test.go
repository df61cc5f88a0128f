package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/workers"
)

// invariantsOf draws the line without colours.
func invariantsOf(t *testing.T, l Ledger, worst time.Duration, w int) string {
	t.Helper()
	p := &picture{theme: newTheme(true, true), ledger: &l, fenced: 7, worst: worst}
	lines := invariants(p, w)
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	return strings.TrimRight(ansi.Strip(lines[0]), " ")
}

func TestInvariantsAreDrawnWholeWhereverThereIsRoom(t *testing.T) {
	t.Parallel()
	l, late := Ledger{Effects: 194_321, Lease: 6 * time.Second}, 121*time.Millisecond
	for w, want := range map[int]string{
		160: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 of 194,321 · ✓ overlap of two runners 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		135: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 of 194,321 · ✓ overlap 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		120: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 · ✓ overlap 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		110: " INVARIANTS  ✓ lost 0 · ✓ doubled 0 of 194,321 · ✓ overlap 0 · fenced 7 · ✓ recovery 6.13 s of 6.0+0.25 s",
		100: " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · fenced 7 · ✓ recovery 6.13 s of 6.0+0.25 s",
		80:  " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · fenced 7 · ✓ recovery 6.13 s",
		68:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 ✓ recovery 6.13 s",
		60:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 ✓ 6.13 s",
	} {
		if got := invariantsOf(t, l, late, w); got != want {
			t.Errorf("%d cells:\n%s, want\n%s", w, got, want)
		}
	}
}

// What nobody counts is not said to be none.
func TestInvariantsSayThatNoLedgerIsKept(t *testing.T) {
	t.Parallel()
	l := Ledger{Unkept: true, Lease: 6 * time.Second}
	for w, want := range map[int]string{
		140: " INVARIANTS  ✓ lost 0 · effects not counted · ✓ overlap of two runners 0 · stale writes fenced 7 · ✓ worst recovery 6.02 s of 6.0+0.25 s",
		110: " INVARIANTS  ✓ lost 0 · effects not counted · ✓ overlap 0 · fenced 7 · ✓ recovery 6.02 s of 6.0+0.25 s",
		60:  " INVARIANTS  ✓ lost 0 · ✓ overlap 0 · ✓ recovery 6.02 s",
	} {
		if got := invariantsOf(t, l, 20*time.Millisecond, w); got != want {
			t.Errorf("%d cells:\n%s, want\n%s", w, got, want)
		}
	}
	l.Effects, l.Doubled = 0, 0
	for w := range 200 {
		if got := invariantsOf(t, l, -1, w); strings.Contains(got, "doubled") || strings.Contains(got, "double effects") || strings.Contains(got, "effects 0") {
			t.Errorf("%d cells: %s", w, got)
		}
	}
}

func TestInvariantsSayWhatIsBroken(t *testing.T) {
	t.Parallel()
	six := 6 * time.Second
	for want, c := range map[string]struct {
		ledger Ledger
		worst  time.Duration
	}{
		"✗ lost 2":                                 {Ledger{Lost: 2, Lease: six}, 0},
		"✗ double effects 1":                       {Ledger{Doubled: 1, Lease: six}, 0},
		"✗ overlap of two runners 3 for 1.2 s":     {Ledger{Overlaps: 3, Overlap: 1200 * time.Millisecond, Lease: six}, 0},
		"✗ worst recovery 6.26 s of 6.0+0.25 s":    {Ledger{Lease: six}, 251 * time.Millisecond},
		"✓ worst recovery 6.25 s of 6.0+0.25 s":    {Ledger{Lease: six}, 250 * time.Millisecond},
		"· worst recovery – of 6.0+0.25 s":         {Ledger{Lease: six}, -1},
		"✗ worst recovery 3606.00 s of 6.0+0.25 s": {Ledger{Lease: six}, time.Hour},
	} {
		got := invariantsOf(t, c.ledger, c.worst, 180)
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s in it", got, want)
		}
		if broken := strings.Count(got, "✗"); broken != strings.Count(want, "✗") {
			t.Errorf("%s: %d broken", got, broken)
		}
	}
}

// A lease that ran out before this program was there says nothing of its recovery.
func TestWorstRecoveryIsOfLeasesThatWereWatched(t *testing.T) {
	t.Parallel()
	news := []workers.Event{
		{What: workers.ReapedBack, Late: time.Hour},
		{What: workers.ReapedBack, Late: 20 * time.Millisecond, Watched: true},
		{What: workers.ReapedDead, Late: 30 * time.Millisecond, Watched: true},
		{What: workers.LeaseLost, Late: time.Hour, Watched: true},
	}
	if got := worstRecovery(-1, news[:1]); got != -1 {
		t.Errorf("%v, want none", got)
	}
	if got := worstRecovery(-1, news); got != 30*time.Millisecond {
		t.Errorf("%v, want 30ms", got)
	}
	if got := worstRecovery(time.Second, news); got != time.Second {
		t.Errorf("%v, want what was worse before", got)
	}
}
