package ui

import "strings"

// levels are the heights of a bar in one cell. The full block is left out, so
// that bars of two rows do not run into each other.
const levels = "▁▂▃▄▅▆▇"

// spark draws samples (newest last) as bars of one cell each, on a scale of
// their own; more samples than cells are drawn as means. A sample of nought is a
// dot, so that a quiet second is told from one that was not counted, which is blank.
func spark(samples []float64, w int, k, none ink) string {
	bars := samples
	if len(bars) > w {
		bars = resample(samples, w)
	}
	high := 0.0
	for _, v := range bars {
		high = max(high, v)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", w-len(bars)))
	steps := []rune(levels)
	var run []rune
	var inRun ink
	for _, v := range bars {
		glyph, ink := '·', none
		switch {
		case v < 0:
			glyph, ink = ' ', inRun
		case v > 0 && high > 0:
			i := int(v/high*float64(len(steps)) + 0.5)
			glyph, ink = steps[max(min(i, len(steps))-1, 0)], k
		}
		if ink != inRun {
			b.WriteString(inRun.draw(string(run)))
			run, inRun = run[:0], ink
		}
		run = append(run, glyph)
	}
	b.WriteString(inRun.draw(string(run)))
	return b.String()
}

// skyline draws bars h cells high at the right of w cells, top line first, each
// line in the ink of its height. Over a bar whose shade is higher, the rest of the shade
// is hatched. A bar below nought, of what was not counted, is left out.
func (t *theme) skyline(bars, shades []float64, w, h int, high float64) []string {
	lines := make([]string, h)
	steps := []rune("▁▂▃▄▅▆▇█")
	eighths := func(v, below float64) int {
		if high <= 0 {
			return 0
		}
		return int((v/high*float64(h)-below)*8 + 0.5)
	}
	shift := len(bars) - len(shades)
	for y := range h {
		below := float64(h - 1 - y) // cells under this line
		k := t.text
		if n := len(t.hills); n > 0 {
			k = t.hills[(h-1-y)*(n-1)/max(h-1, 1)]
		}
		var line strings.Builder
		var run []rune
		var inRun ink
		put := func(r rune, k ink) {
			if k != inRun {
				line.WriteString(inRun.draw(string(run)))
				run, inRun = run[:0], k
			}
			run = append(run, r)
		}
		line.WriteString(strings.Repeat(" ", w-len(bars)))
		for x, v := range bars {
			shade := 0.0
			if x >= shift {
				shade = shades[x-shift]
			}
			switch n := eighths(v, below); {
			case n > 0:
				put(steps[min(n, 8)-1], k)
			case eighths(shade, below) >= 4: // more than half of the cell
				put('░', t.other)
			case y == h-1 && v >= 0:
				put('▁', t.faint)
			default:
				put(' ', inRun)
			}
		}
		line.WriteString(inRun.draw(string(run)))
		lines[y] = line.String()
	}
	return lines
}

// ceiling is the top of a chart's scale: a round number not below any sample.
func ceiling(samples []float64) float64 {
	most := 0.0
	for _, v := range samples {
		most = max(most, v)
	}
	if most <= 0 {
		return 0
	}
	unit := 1.0
	for {
		for _, step := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
			if most <= step*unit {
				return step * unit
			}
		}
		unit *= 10
	}
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// resample draws samples over w bars, whatever their number: each bar is the
// mean of its stretch, taking samples as joined by straight lines. Samples below nought, of
// what was not counted, have no part in that; a bar that has no others is one of them.
func resample(samples []float64, w int) []float64 {
	if w <= 0 || len(samples) == 0 {
		return nil
	}
	at := func(x float64) float64 {
		x = max(min(x, float64(len(samples)-1)), 0)
		low := min(int(x), max(len(samples)-2, 0))
		high := min(low+1, len(samples)-1)
		share := x - float64(low)
		a, b := samples[low], samples[high]
		if a < 0 || b < 0 { // the nearer of the two alone
			return pick(share < 0.5, a, b)
		}
		return a*(1-share) + b*share
	}
	const looks = 8
	out := make([]float64, w)
	for i := range out {
		sum, seen := 0.0, 0
		for k := range looks {
			x := (float64(i) + (float64(k)+0.5)/looks) / float64(w)
			if v := at(x*float64(len(samples)) - 0.5); v >= 0 {
				sum += v
				seen++
			}
		}
		out[i] = -1
		if seen > 0 {
			out[i] = sum / float64(seen)
		}
	}
	return out
}
