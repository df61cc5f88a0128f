package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// invariantsOf draws the line without colours.
func invariantsOf(t *testing.T, l Ledger, reaped workers.Recovery, w int) string {
	t.Helper()
	return invariantsWith(t, l, 7, reaped, w)
}

func invariantsWith(t *testing.T, l Ledger, fenced uint64, reaped workers.Recovery, w int) string {
	t.Helper()
	p := &picture{theme: newTheme(true, true), ledger: &l, fenced: fenced, reaped: reaped}
	lines := invariants(p, w)
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	return strings.TrimRight(ansi.Strip(lines[0]), " ")
}

// judged is a recovery of reclaims of which the latest was so late.
func judged(worst time.Duration) workers.Recovery { return workers.Recovery{Judged: 3, Worst: worst} }

func TestInvariantsAreDrawnWholeWhereverThereIsRoom(t *testing.T) {
	t.Parallel()
	l, reaped := Ledger{Effects: 194_321, Lease: 6 * time.Second}, judged(121*time.Millisecond)
	for w, want := range map[int]string{
		160: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 of 194,321 · ✓ overlap of two runners 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		135: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 of 194,321 · ✓ overlap 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		120: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 · ✓ overlap 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		110: " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		100: " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s",
		80:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 fenced 7 ✓ worst recovery 6.13 s",
		68:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 ✓ recovery 6.13 s",
		60:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 ✓ 6.13 s",
	} {
		if got := invariantsOf(t, l, reaped, w); got != want {
			t.Errorf("%d cells:\n%s, want\n%s", w, got, want)
		}
	}
}

// That nothing was fenced says less than of what the recovery is.
func TestNoneFencedGoesBeforeTheWorstRecovery(t *testing.T) {
	t.Parallel()
	l, reaped := Ledger{Effects: 2, Lease: 2 * time.Second}, judged(121*time.Millisecond)
	for _, c := range []struct {
		fenced uint64
		reaped workers.Recovery
		want   string
	}{
		{0, reaped, " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · ✓ worst recovery 2.13 s"},
		{1, reaped, " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 fenced 1 ✓ worst recovery 2.13 s"},
		{0, workers.Recovery{}, " INVARIANTS  ✓ lost 0 · ✓ doubled 0 · ✓ overlap 0 · fenced 0 · worst recovery –"},
	} {
		if got := invariantsWith(t, l, c.fenced, c.reaped, 80); got != c.want {
			t.Errorf("%d fenced:\n%s, want\n%s", c.fenced, got, c.want)
		}
	}
}

// What nobody counts is not said to be none.
func TestInvariantsSayThatNoLedgerIsKept(t *testing.T) {
	t.Parallel()
	l := Ledger{Unkept: true, Lease: 6 * time.Second}
	for w, want := range map[int]string{
		140: " INVARIANTS  ✓ lost 0 · effects not counted · ✓ overlap of two runners 0 · stale writes fenced 7 · ✓ worst recovery 6.02 s of 6.0+0.25 s",
		110: " INVARIANTS  ✓ lost 0 · effects not counted · ✓ overlap 0 · fenced 7 · ✓ worst recovery 6.02 s of 6.0+0.25 s",
		60:  " INVARIANTS  ✓ lost 0 · ✓ overlap 0 · ✓ recovery 6.02 s",
	} {
		if got := invariantsOf(t, l, judged(20*time.Millisecond), w); got != want {
			t.Errorf("%d cells:\n%s, want\n%s", w, got, want)
		}
	}
	l.Effects, l.Doubled = 0, 0
	for w := range 200 {
		if got := invariantsOf(t, l, workers.Recovery{}, w); strings.Contains(got, "doubled") || strings.Contains(got, "double effects") || strings.Contains(got, "effects 0") {
			t.Errorf("%d cells: %s", w, got)
		}
	}
}

func TestInvariantsSayWhatIsBroken(t *testing.T) {
	t.Parallel()
	six := 6 * time.Second
	for want, c := range map[string]struct {
		ledger Ledger
		reaped workers.Recovery
	}{
		"✗ lost 2":                                 {Ledger{Lost: 2, Lease: six}, workers.Recovery{}},
		"✗ double effects 1":                       {Ledger{Doubled: 1, Lease: six}, workers.Recovery{}},
		"✗ overlap of two runners 3 for 1.2 s":     {Ledger{Overlaps: 3, Overlap: 1200 * time.Millisecond, Lease: six}, workers.Recovery{}},
		"✗ worst recovery 6.26 s of 6.0+0.25 s":    {Ledger{Lease: six}, judged(251 * time.Millisecond)},
		"✓ worst recovery 6.25 s of 6.0+0.25 s":    {Ledger{Lease: six}, judged(250 * time.Millisecond)},
		"· worst recovery – of 6.0+0.25 s":         {Ledger{Lease: six}, workers.Recovery{}},
		"✗ worst recovery 3606.00 s of 6.0+0.25 s": {Ledger{Lease: six}, judged(time.Hour)},
	} {
		got := invariantsOf(t, c.ledger, c.reaped, 180)
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s in it", got, want)
		}
		if broken := strings.Count(got, "✗"); broken != strings.Count(want, "✗") {
			t.Errorf("%s: %d broken", got, broken)
		}
	}
}

// The worst recovery passes for that of all reclaims only where it is: late ones that
// nobody watched are not hidden, however narrow the screen.
func TestWorstRecoverySaysOfHowManyItIsNot(t *testing.T) {
	t.Parallel()
	l, some := Ledger{Effects: 194_321, Lease: 6 * time.Second}, judged(121*time.Millisecond)
	some.Unwatched = 3
	for w, want := range map[int]string{
		170: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 of 194,321 · ✓ overlap of two runners 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s of 6.0+0.25 s · 3 unwatched",
		120: " INVARIANTS  ✓ lost 0 · ✓ double effects 0 · ✓ overlap 0 · stale writes fenced 7 · ✓ worst recovery 6.13 s · 3 unwatched",
		80:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 3 unwatched",
		60:  " INVARIANTS  ✓ lost 0 ✓ doubled 0 ✓ overlap 0 3 unwatched",
	} {
		if got := invariantsOf(t, l, some, w); got != want {
			t.Errorf("%d cells:\n%s, want\n%s", w, got, want)
		}
	}
	some.Worst = time.Second
	if got := invariantsOf(t, l, some, 60); !strings.HasSuffix(got, "✗ 7.00 s") {
		t.Errorf("%s, want what is broken rather than what is not known", got)
	}
	if got := invariantsOf(t, l, workers.Recovery{Unwatched: 1_204}, 180); !strings.HasSuffix(got, "· worst recovery – of 6.0+0.25 s · 1,204 unwatched") {
		t.Errorf("%s, want no recovery where none could be judged", got)
	}
}

// What the workers sum up is on the screen with the picture they told it for.
func TestPictureHasTheRecoveryThatTheWorkersTell(t *testing.T) {
	t.Parallel()
	p := picture{state: &watch.State{}}
	for _, want := range []workers.Recovery{judged(time.Second), {Judged: 4, Worst: time.Second, Unwatched: 2}} {
		if p.take(pulledMsg{state: p.state, reaped: want}); p.reaped != want {
			t.Errorf("%+v, want %+v", p.reaped, want)
		}
	}
}

// Whatever there is to say, the figures are called the same: what changes its name is taken
// for something else.
func TestInvariantsKeepTheirNames(t *testing.T) {
	t.Parallel()
	recovered := judged(121 * time.Millisecond)
	for _, w := range []int{160, 120, 100, 80} {
		words := wordsFor(w)[0]
		for _, effects := range []int64{0, 2, 4_321, 194_321} {
			for _, fenced := range []uint64{0, 1, 12, 123} {
				for _, reaped := range []workers.Recovery{{}, recovered} {
					got := invariantsWith(t, Ledger{Effects: effects, Lease: 3 * time.Second}, fenced, reaped, w)
					for _, name := range []string{"lost", words.doubled, words.overlap, words.worst} {
						if !strings.Contains(got, " "+strings.TrimSpace(name)+" ") {
							t.Errorf("%d cells, %d effects, %d fenced: no %q in %s", w, effects, fenced, name, got)
						}
					}
					if fenced > 0 && !strings.Contains(got, words.fenced) {
						t.Errorf("%d cells, %d effects, %d fenced: %s", w, effects, fenced, got)
					}
				}
			}
		}
	}
}
