package ui

import (
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
)

// minute is how many samples the chart is wide.
const minute = 60

// chart draws the last minute of all queues together in the room left over: what left
// them as bars, and above these, shaded, by how much more came in.
func (q *queuesPane) chart(w, h int) []string {
	t, sum := q.pic.theme, &q.pic.totals.sum
	left, entered := sum.Spark, sum.SparkIn
	if h < 5 || len(left) < 2 || w < 30 {
		return nil
	}
	high := max(ceiling(left), ceiling(entered))
	rows := min(h-2, 8)
	scale := max(len(rate(high)), len(rate(0)))
	title := t.dim.draw("per second, last 60 s")
	legend := t.dim.draw("out ") + t.accent.draw("█ ") + t.strong.draw(sample(left))
	if len(entered) > 0 {
		legend += t.dim.draw("  in ") + t.other.draw("░ ") + t.strong.draw(sample(entered))
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
