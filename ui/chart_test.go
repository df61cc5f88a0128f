package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
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

// A burst is hatched up to the top, and what leaves is still to be seen below it.
func TestBurstDoesNotFlattenTheChart(t *testing.T) {
	t.Parallel()
	for most, want := range map[float64][]string{
		3:    {" 4.0 ┤   ", "┤ █                       ", "┤░█░░░", "out █ 2.0  in ░ 3.0 "},
		5000: {" 4.0 ┤                           ░░░   ", "┤ █                         ░░░   ", "┤░█░░░", "out █ 2.0  in ░ 3.0 of up to 5.0k "},
	} {
		w := newWorld()
		q := watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "emails"}, Rates: watch.FromWAL, Spark: make([]float64, 60), SparkIn: make([]float64, 60)}
		for i := range q.Spark {
			q.Spark[i], q.SparkIn[i] = 2, 3
		}
		q.Spark[1], q.SparkIn[30] = 4, most
		w.state.Depths.Queues = []watch.QueueDepth{q}
		addTraffic(w.state)
		s := newStage(t, w, 120, 36)
		s.sees(want...)
		s.seesNot("5.0k ┤")
	}
}
