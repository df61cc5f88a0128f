package ui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
	"pgregory.net/rapid"
)

func TestCellsAgreesWithTheMeasure(t *testing.T) {
	t.Parallel()
	pieces := append([]string{"a", " ", "e\u0301", "│", "━", "╸", "▁", "█", "·", "–", "…", "→", "✓", "▸", "◆", "▮", "\x1b[1;38;2;1;2;3m", "\x1b[m"}, hostile[:len(hostile)-1]...)
	rapid.Check(t, func(t *rapid.T) {
		line := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces") {
			if p[0] != '\x1b' || p[1] != '[' || p[len(p)-1] != 'm' {
				p = safe.Text(p)
			}
			line += p
		}
		if got, want := cells(line), ansi.StringWidth(line); got != want {
			t.Fatalf("%q: %d cells, want %d", line, got, want)
		}
		if w := rapid.IntRange(0, 30).Draw(t, "w"); ansi.StringWidth(fitLine(line, w)) != w {
			t.Fatalf("%q is not %d cells wide", fitLine(line, w), w)
		}
	})
}
