package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Where more came in than left, the difference is hatched above the bar.
func TestChartHatchesWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	lines := newTheme(true, true).skyline([]float64{4, 2, 0, 0, 3, 0}, []float64{2, 4, 3, 0, 0}, 7, 4, 4)
	want := strings.Join([]string{
		" █ ░   ",
		" █ ░░█ ",
		" ██░░█ ",
		" ██░░█▁",
	}, "\n")
	if got := ansi.Strip(strings.Join(lines, "\n")); got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
}
