package ui

import (
	"fmt"
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
	line := func(words invariantWords) string {
		var parts []string
		parts = append(parts, t.mustBeNone("lost", l.Lost))
		switch {
		case !l.Unkept:
			parts = append(parts, t.mustBeNone(words.doubled, l.Doubled)+t.dim.draw(pick(words.among != "", words.among+thousands(l.Effects), "")))
		case words.unkept != "":
			parts = append(parts, t.dim.draw(words.unkept))
		}
		parts = append(parts, t.noOverlap(words.overlap, l))
		if words.fenced != "" {
			parts = append(parts, t.dim.draw(words.fenced)+t.text.draw(thousands(int64(fenced))))
		}
		switch {
		case l.Others && reaped == workers.Recovery{}:
			if words.worst != "" {
				parts = append(parts, t.dim.draw("recovered by another reaper"))
			}
		case l.Lease > 0: // else nobody has leases there
			parts = append(parts, t.recovery(words, reaped, l.Lease)...)
		}
		return " " + t.strong.draw("INVARIANTS") + t.dim.draw(pick(whose != "", " "+whose, "")) + "  " + strings.Join(parts, t.faint.draw(words.between))
	}
	if note != "" {
		note = " · " + note
	}
	text := ""
	for _, words := range invariantWording {
		if words == noneFenced && (fenced > 0 || reaped == workers.Recovery{}) {
			continue
		}
		if text = line(words); cells(text+note) <= w {
			break
		}
	}
	if note != "" {
		text = t.dim.fade(text + note)
	}
	return []string{fitLine(text, w)}
}

// invariantWords name the figures.
type invariantWords struct{ doubled, among, unkept, overlap, fenced, worst, of, between string }

// invariantWording is from the widest to the narrowest.
var invariantWording = []invariantWords{
	{"double effects", " of ", "effects not counted", "overlap of two runners", "stale writes fenced ", "worst recovery ", " of ", " · "},
	{"double effects", " of ", "effects not counted", "overlap", "stale writes fenced ", "worst recovery ", " of ", " · "},
	{"double effects", "", "effects not counted", "overlap", "stale writes fenced ", "worst recovery ", " of ", " · "},
	{"doubled", " of ", "effects not counted", "overlap", "fenced ", "recovery ", " of ", " · "},
	{"doubled", "", "effects not counted", "overlap", "fenced ", "recovery ", " of ", " · "},
	noneFenced,
	{"doubled", " of ", "effects not counted", "overlap", "fenced ", "recovery ", "", " · "},
	{"doubled", "", "effects not counted", "overlap", "fenced ", "recovery ", "", " · "},
	{"doubled", "", "", "overlap", "", "recovery ", " of ", " · "},
	{"doubled", "", "", "overlap", "", "recovery ", "", " · "},
	{"doubled", "", "", "overlap", "", "recovery ", "", " "},
	{"doubled", "", "", "overlap", "", "", "", " "},
}

// noneFenced leaves that none was fenced away, to say of the recovery what it is: only for
// where none was, and something was recovered.
var noneFenced = invariantWords{"doubled", "", "effects not counted", "overlap", "", "worst recovery ", "", " · "}

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
func (t *theme) recovery(words invariantWords, of workers.Recovery, lease time.Duration) (parts []string) {
	bound, broken, both := "", of.Worst > workers.RecoveryBound, words.worst != ""
	if words.of != "" {
		bound = words.of + fmt.Sprintf("%.1f+%.2f s", lease.Seconds(), workers.RecoveryBound.Seconds())
	}
	// Rounded up: what does not keep the bound must not look as if it did.
	took := fmt.Sprintf("%.2f s", (lease + of.Worst + 9*time.Millisecond).Truncate(10*time.Millisecond).Seconds())
	switch {
	case broken:
		parts = append(parts, t.alarm.draw("✗ "+words.worst+took+bound))
	case of.Unwatched > 0 && !both: // that is said below
	case of.Judged == 0:
		parts = append(parts, t.dim.draw(words.worst)+t.faint.draw("–")+t.dim.draw(bound))
	default:
		parts = append(parts, t.good.draw("✓ ")+t.dim.draw(words.worst)+t.text.draw(took)+t.dim.draw(bound))
	}
	if of.Unwatched > 0 && (both || !broken) {
		parts = append(parts, t.text.draw(thousands(int64(of.Unwatched)))+t.dim.draw(" unwatched"))
	}
	return parts
}
