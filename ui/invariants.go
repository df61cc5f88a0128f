package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// invariants is the demonstration's line: what the queue promises, as counted by
// the effects ledger and the workers. Empty without a demonstration.
func invariants(p *picture, w int) []string {
	if p.ledger == nil {
		return nil
	}
	note := ""
	if old, stale := p.stale(p.counted.Add(ledgerEvery)); stale {
		note = "stale: " + age(old+ledgerEvery) + " old"
	}
	return p.theme.invariantLine("", p.ledger, p.fenced, p.reaped, note, w)
}

// invariantLine draws what must hold, and whose it is where it is not all. A note, where
// there is one, says why it may not be so any more.
func (t *theme) invariantLine(whose string, l *Ledger, fenced uint64, reaped workers.Recovery, note string, w int) []string {
	line := func(words invariantWords, room invariantRoom) string {
		if room.unnamed {
			words.worst = ""
		}
		var parts []string
		parts = append(parts, t.mustBeNone("lost", l.Lost))
		switch {
		case !l.Unkept:
			parts = append(parts, t.mustBeNone(words.doubled, l.Doubled)+t.dim.draw(pick(room.among, " of "+thousands(l.Effects), "")))
		case !room.bare:
			parts = append(parts, t.dim.draw("effects not counted"))
		}
		parts = append(parts, t.noOverlap(words.overlap, l))
		if words.fenced != "" && !room.bare {
			parts = append(parts, t.dim.draw(words.fenced)+t.text.draw(thousands(int64(fenced))))
		}
		switch {
		case l.Others && reaped == workers.Recovery{}:
			if words.worst != "" {
				parts = append(parts, t.dim.draw("recovered by another reaper"))
			}
		case l.Lease > 0: // else nobody has leases there
			parts = append(parts, t.recovery(words.worst, room.of, reaped, l.Lease)...)
		}
		return " " + t.strong.draw("INVARIANTS") + t.dim.draw(pick(whose != "", " "+whose, "")) + "  " + strings.Join(parts, t.faint.draw(pick(room.close, " ", " · ")))
	}
	if note != "" {
		note = " · " + note
	}
	text := ""
fits:
	for _, words := range wordsFor(w - cells(whose)) {
		for _, room := range invariantRooms {
			if room.bare && !l.Unkept && !room.close && (fenced > 0 || reaped == workers.Recovery{}) {
				continue // only that nothing was fenced can be left out, for where something was recovered
			}
			if text = line(words, room); cells(text+note) <= w {
				break fits
			}
		}
	}
	if note != "" {
		text = t.dim.fade(text + note)
	}
	return []string{fitLine(text, w)}
}

// invariantWords name the figures.
type invariantWords struct {
	from                            int // cells that there are at least
	doubled, overlap, fenced, worst string
}

// invariantWording is from the widest to the narrowest. Which it is depends on the width
// alone, so that nothing changes its name while somebody looks.
var invariantWording = []invariantWords{
	{140, "double effects", "overlap of two runners", "stale writes fenced ", "worst recovery "},
	{118, "double effects", "overlap", "stale writes fenced ", "worst recovery "},
	{75, "doubled", "overlap", "fenced ", "worst recovery "},
	{0, "doubled", "overlap", "fenced ", "recovery "},
}

// wordsFor are the words for so many cells, and behind them narrower ones for figures that
// are larger than they should be.
func wordsFor(w int) []invariantWords {
	return invariantWording[slices.IndexFunc(invariantWording, func(words invariantWords) bool { return max(w, 0) >= words.from }):]
}

// invariantRoom is what else is said: of how many, against which bound.
type invariantRoom struct{ among, of, bare, close, unnamed bool }

// invariantRooms are from the widest to the narrowest: bare leaves out what was fenced and
// what is not counted, close what stands between the figures, unnamed what a recovery is.
var invariantRooms = []invariantRoom{
	{among: true, of: true},
	{of: true},
	{among: true},
	{},
	{bare: true},
	{close: true},
	{bare: true, close: true},
	{bare: true, close: true, unnamed: true},
}

// mustBeNone draws a count that is broken as soon as it is not 0.
func (t *theme) mustBeNone(name string, n int64) string {
	if n == 0 {
		return t.good.draw("✓") + t.dim.draw(" "+name+" ") + t.text.draw("0")
	}
	return t.alarm.draw("✗ " + name + " " + thousands(n))
}

// noOverlap draws how often two ran one job at a time, and for how long at most.
func (t *theme) noOverlap(name string, l *Ledger) string {
	if l.Overlaps == 0 {
		return t.mustBeNone(name, 0)
	}
	return t.alarm.draw(fmt.Sprintf("✗ %s %s for %s", name, thousands(l.Overlaps), short(l.Overlap)))
}

// recovery draws the worst one, counted from the last sign of life of who had the job,
// against its bound, which is left away where there is no room to say of what it is. How
// many reclaims it is not of stands beside it, or instead: it says less without.
func (t *theme) recovery(worst string, bounded bool, of workers.Recovery, lease time.Duration) (parts []string) {
	bound, broken, both := "", of.Worst > workers.RecoveryBound, worst != ""
	if bounded {
		bound = " of " + fmt.Sprintf("%.1f+%.2f s", lease.Seconds(), workers.RecoveryBound.Seconds())
	}
	// Rounded up: what does not keep the bound must not look as if it did.
	took := fmt.Sprintf("%.2f s", (lease + of.Worst + 9*time.Millisecond).Truncate(10*time.Millisecond).Seconds())
	switch {
	case broken:
		parts = append(parts, t.alarm.draw("✗ "+worst+took+bound))
	case of.Unwatched > 0 && !both: // that is said below
	case of.Judged == 0:
		parts = append(parts, t.dim.draw(worst)+t.faint.draw("–")+t.dim.draw(bound))
	default:
		parts = append(parts, t.good.draw("✓ ")+t.dim.draw(worst)+t.text.draw(took)+t.dim.draw(bound))
	}
	if of.Unwatched > 0 && (both || !broken) {
		parts = append(parts, t.text.draw(thousands(int64(of.Unwatched)))+t.dim.draw(" unwatched"))
	}
	return parts
}
