package ui

import "strings"

// levels are the heights of a bar in one cell. The full block is left out, so
// that bars of two rows do not run into each other.
const levels = "▁▂▃▄▅▆▇"

// spark draws samples (newest last) as bars of one cell each, on a scale of
// their own; more samples than cells are drawn as means. A sample of nought is a
// dot, so that a quiet second is told from one that was not seen.
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
	blank := w - len(bars)
	b.WriteString(strings.Repeat(" ", blank))
	steps := []rune(levels)
	flush := func(run string, k ink) { b.WriteString(k.draw(run)) }
	run, zero := "", false
	for _, v := range bars {
		glyph, isZero := "·", v <= 0 || high <= 0
		if !isZero {
			i := int(v/high*float64(len(steps)) + 0.5)
			glyph = string(steps[max(min(i, len(steps))-1, 0)])
		}
		if isZero != zero && run != "" {
			flush(run, pick(zero, none, k))
			run = ""
		}
		zero = isZero
		run += glyph
	}
	if run != "" {
		flush(run, pick(zero, none, k))
	}
	return b.String()
}

// skyline draws bars h cells high at the right of w cells, top line first, each
// line in the ink of its height.
func (t *theme) skyline(bars []float64, w, h int, high float64) []string {
	lines := make([]string, h)
	steps := []rune("▁▂▃▄▅▆▇█")
	for y := range h {
		below := float64(h - 1 - y) // cells under this line
		var b strings.Builder
		some := false
		for _, v := range bars {
			part := -below
			if high > 0 {
				part += v / high * float64(h)
			}
			eighths := int(part*8 + 0.5)
			switch {
			case eighths > 0:
				b.WriteRune(steps[min(eighths, 8)-1])
				some = true
			case y == h-1:
				b.WriteRune('▁')
			default:
				b.WriteRune(' ')
			}
		}
		k := t.faint
		if n := len(t.hills); some && n > 0 {
			k = t.hills[(h-1-y)*(n-1)/max(h-1, 1)]
		} else if some {
			k = t.text
		}
		lines[y] = strings.Repeat(" ", w-len(bars)) + k.draw(b.String())
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
// mean of its stretch, taking samples as joined by straight lines.
func resample(samples []float64, w int) []float64 {
	if w <= 0 || len(samples) == 0 {
		return nil
	}
	at := func(x float64) float64 {
		x = max(min(x, float64(len(samples)-1)), 0)
		low := min(int(x), max(len(samples)-2, 0))
		high := min(low+1, len(samples)-1)
		share := x - float64(low)
		return samples[low]*(1-share) + samples[high]*share
	}
	const looks = 8
	out := make([]float64, w)
	for i := range out {
		for k := range looks {
			x := (float64(i) + (float64(k)+0.5)/looks) / float64(w)
			out[i] += at(x*float64(len(samples))-0.5) / looks
		}
	}
	return out
}
