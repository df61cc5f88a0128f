package ui

import (
	"strings"
)

// invariants is the demonstration's line: what the queue promises, as counted by
// the effects ledger and the workers. Empty without a demonstration.
func invariants(p *picture, w int) []string {
	if p.ledger == nil {
		return nil
	}
	t := p.theme
	line := func(fencedName, worstName, worstOf string) string {
		parts := []string{
			t.dim.draw("effects ") + t.text.draw(thousands(p.ledger.Effects)),
			t.mustBeNone("lost", p.ledger.Lost),
			t.mustBeNone("doubled", p.ledger.Doubled),
			t.dim.draw(fencedName) + t.text.draw(thousands(int64(p.fenced))),
		}
		if p.worst >= 0 {
			parts = append(parts, t.dim.draw(worstName)+t.text.draw(short(p.worst))+t.dim.draw(worstOf))
		}
		return " " + t.strong.draw("INVARIANTS") + "  " + strings.Join(parts, t.faint.draw(" · "))
	}
	text := line("stale writes fenced ", "worst recovery ", " after expiry")
	if cells(text) > w {
		text = line("fenced ", "recovery +", "")
	}
	if old, stale := p.stale(p.counted.Add(ledgerEvery)); stale {
		text = t.dim.fade(line("fenced ", "recovery +", "") + " · stale: " + age(old+ledgerEvery) + " old")
	}
	return []string{fitLine(text, w)}
}

// mustBeNone draws a count that is broken as soon as it is not 0.
func (t *theme) mustBeNone(name string, n int64) string {
	if n == 0 {
		return t.good.draw("✓") + t.dim.draw(" "+name+" ") + t.text.draw("0")
	}
	return t.alarm.draw("✗ " + name + " " + thousands(n))
}
