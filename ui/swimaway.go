package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// outagesOf are the outages of a play as lanes have them. They last as long as they did, or
// have until now, though the clock of the lanes stood still meanwhile.
func outagesOf(all []scenario.Outage, clock *playClock, now time.Time) []lanes.Outage {
	out := make([]lanes.Outage, len(all))
	for i, o := range all {
		out[i] = lanes.Outage{Text: o.Text, From: clock.Of(o.Began), Took: max(now.Sub(o.Began), 1)}
		if !o.Ended.IsZero() {
			out[i].Took = max(o.Ended.Sub(o.Began), 1)
			out[i].To = clock.Of(o.Ended)
		}
	}
	return out
}

// bandOf tells of each column whether an outage was in it.
func bandOf(gaps []lanes.Gap, w int) []bool {
	band := make([]bool, w)
	for _, g := range gaps {
		for x := g.First; x <= g.Last; x++ {
			band[x] = true
		}
	}
	return band
}

// lasting says for how long something has been; "" while that is not worth a figure.
func lasting(d time.Duration) string {
	if d < 100*time.Millisecond {
		return ""
	}
	return "for " + short(d)
}

// awayLine is the line between the axis and the lanes that says what was away, where, and
// for how long: behind its columns, or before them where there is no room. The newest has
// the first word.
func (t *theme) awayLine(gaps []lanes.Gap, w int) string {
	whose := make([]int, w) // by column: 1 is a band, 2 a word
	line := []rune(strings.Repeat(" ", w))
	put := func(x int, text string, kind int) {
		for i, r := range []rune(text) {
			line[x+i], whose[x+i] = r, kind
		}
	}
	free := func(x, n, most int) bool { // of what is of a higher kind than most, and beside other words
		for k := max(x-1, 0); k < min(x+n+1, w); k++ {
			if whose[k] == 2 || k >= x && k < x+n && whose[k] > most {
				return false
			}
		}
		return x >= 0 && x+n <= w
	}
	for _, g := range gaps {
		put(g.First, strings.Repeat("▒", g.Last-g.First+1), 1)
	}
	for i := len(gaps) - 1; i >= 0; i-- {
		g := gaps[i]
		took := short(g.Took)
		if g.Goes {
			took = lasting(g.Took)
		}
		for _, text := range []string{join(g.Text, took), took} {
			n := safe.Width(text)
			if n != len([]rune(text)) {
				continue
			}
			at := g.Last + 2
			switch {
			case free(at, n, 0):
			case free(g.First-1-n, n, 0):
				at = g.First - 1 - n
			case n+2 <= g.Last-g.First+1 && free(g.First+1, n, 1):
				at = g.First + 1
			default:
				continue
			}
			put(at, text, 2)
			break
		}
	}
	return t.bad.draw(string(line))
}
