package ui

import (
	"slices"
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// minute is how many samples the chart is wide.
const minute = 60

// chart draws the last minute of all queues together in the room left over: what left
// them as bars, and above these, hatched, by how much more came in: up to the top, when
// that is far more, and the legend has the number.
func (q *queuesPane) chart(w, h int) []string {
	t, left, entered := q.pic.theme, q.pic.whole.Spark, q.pic.whole.SparkIn
	if h < 5 || len(left) < 2 || w < 30 {
		return nil
	}
	high, peak := ceiling(left), ceiling(entered)
	if clipped := high > 0 && peak > 2*high; !clipped { // else a burst would flatten what leaves for a minute
		high, peak = max(high, peak), 0
	}
	rows := min(h-2, 8)
	scale := max(len(rate(high)), len(rate(0)))
	title := t.dim.draw("per second, last 60 s")
	legend := t.dim.draw("out ") + t.accent.draw("█ ") + t.strong.draw(sample(left))
	if len(entered) > 0 {
		legend += t.dim.draw("  in ") + t.other.draw("░ ") + t.strong.draw(sample(entered))
		if peak > 0 {
			legend += t.dim.draw(" of up to ") + t.text.draw(rate(slices.Max(entered)))
		}
	}
	gap := w - 2 - safe.Width(title) - safe.Width(legend)
	if gap < 1 {
		legend, gap = "", 1
	}
	wide := w - 5 - scale
	seen := func(samples []float64) []float64 { return resample(samples, wide*min(len(samples), minute)/minute) }
	lines := []string{"", " " + title + strings.Repeat(" ", gap) + legend}
	for i, line := range t.skyline(seen(left), seen(entered), wide, rows, high) {
		label := ""
		if i == 0 {
			label = rate(high)
		} else if i == rows-1 {
			label = "0"
		}
		lines = append(lines, " "+t.dim.draw(safe.FitRight(label, scale))+t.faint.draw(" ┤")+line)
	}
	return lines
}

// sample writes the newest sample; a dash when that second was not counted.
func sample(samples []float64) string {
	if newest := samples[len(samples)-1]; newest >= 0 {
		return rate(newest)
	}
	return "–"
}
