package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Where more came in than left, the difference is hatched above the bar; a second that was
// not counted is left out.
func TestChartHatchesWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	lines := newTheme(true, true).skyline([]float64{4, 2, 0, 0, 3, 0, -1, 1}, []float64{2, 4, 3, 0, 0, -1, 0}, 9, 4, 4)
	want := strings.Join([]string{
		" █ ░     ",
		" █ ░░█   ",
		" ██░░█   ",
		" ██░░█▁ █",
	}, "\n")
	if got := ansi.Strip(strings.Join(lines, "\n")); got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
}

func TestSamplesThatWereNotCountedAreBlank(t *testing.T) {
	t.Parallel()
	if got := spark([]float64{-1, 0, 4, -1, 8}, 6, ink{}, ink{}); got != "  ·▄ ▇" {
		t.Errorf("drawn %q", got)
	}
	for _, c := range []struct{ samples, want []float64 }{
		{[]float64{-1, -1, 6, 6}, []float64{-1, 6}},
		{[]float64{-1, 3}, []float64{-1, -1, 3, 3}},
		{[]float64{0, -1, -1, 2}, []float64{0, 2}},
	} {
		if got := resample(c.samples, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%v over %d bars: %v, want %v", c.samples, len(c.want), got, c.want)
		}
	}
}
