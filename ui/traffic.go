package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// traffic says what goes on in all queues together, in up to so many lines. Figures that
// only the stream knows are left out where there is none, and that is said.
func (p *picture) traffic(w, lines int) []string {
	t, in := p.theme, p.state.Traffic
	figure := func(name, value string, some bool) string {
		return t.dim.draw(name+" ") + pick(some, t.text, t.faint).draw(value)
	}
	var parts []part
	if in.Source != watch.Unknown {
		parts = append(parts,
			// Both are of one window.
			part{figure(window(in.Window)+": dead", perMinute(in.DeadPerMinute)+"/min", in.DeadPerMinute > 0), 0},
			part{figure("leases expired", thousands(in.Expired), in.Expired > 0), 1},
		)
		if in.Rate.Failed >= 0.05 {
			parts = append(parts, part{figure("failed tries", rate(in.Rate.Failed)+"/s", true), 3})
		}
		if l := in.Pickup; l.Count > 0 {
			parts = append(parts, part{latency(t, "pickup", l.P50, l.P99), 2})
		}
	}
	if l := p.claims; l.Count > 0 {
		parts = append(parts, part{latency(t, "claim", l.P50, l.P99), 4})
	}
	if in.Source == watch.Unknown && p.state.Depths.Source != watch.Unknown {
		parts = append(parts, part{t.dim.draw("dead/min, expired leases and pickup need the WAL stream"), 5})
	}
	out := dotted(t, parts, w-2, lines)
	for i := range out {
		out[i] = " " + out[i]
	}
	return out
}

// latency tells the middle of a distribution and its far end.
func latency(t *theme, name string, p50, p99 time.Duration) string {
	return t.dim.draw(name+" p50 ") + t.text.draw(short(p50)) + t.dim.draw(" p99 ") + t.text.draw(short(p99))
}

// perMinute writes a small rate: 0, 0.4, 31.
func perMinute(f float64) string {
	if f <= 0 {
		return "0"
	}
	return rate(f)
}

// window is how far back a count goes. It is told in minutes, for it grows all the time.
func window(d time.Duration) string {
	if d < time.Minute {
		return "<1 min"
	}
	return thousands(int64(d.Round(time.Minute)/time.Minute)) + " min"
}

// dotted sets parts one after the other, with dots between, in up to so many lines of w
// cells. Those of the highest rank are left out where there is no room for all.
func dotted(t *theme, parts []part, w, lines int) []string {
	for {
		out := dottedAll(t, parts, w)
		worst := 0
		for i, one := range parts {
			if one.rank >= parts[worst].rank {
				worst = i
			}
		}
		if len(out) <= lines || len(parts) == 0 {
			return out[:min(len(out), lines)]
		}
		parts = append(append([]part(nil), parts[:worst]...), parts[worst+1:]...)
	}
}

func dottedAll(t *theme, parts []part, w int) []string {
	const dot, dotCells = " · ", 3
	var lines []string
	var b strings.Builder
	used := 0
	for _, one := range parts {
		n := safe.Width(one.text)
		if used > 0 && used+dotCells+n > w {
			lines = append(lines, b.String())
			b.Reset()
			used = 0
		}
		if used > 0 {
			b.WriteString(t.faint.draw(dot))
			used += dotCells
		}
		b.WriteString(one.text)
		used += n
	}
	if used > 0 {
		lines = append(lines, b.String())
	}
	return lines
}
