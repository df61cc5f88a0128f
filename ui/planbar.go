package ui

import (
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// share of a plan: so many of its jobs, what they are, and how they are drawn. The glyph
// says the same as the colour.
type planShare struct {
	n     int64
	name  string
	glyph string
	ink   ink
}

// planShares are a plan's jobs by what has become of them, in the order of the bar.
func planShares(t *theme, p *queue.Plan) []planShare {
	return []planShare{
		{p.Completed, "completed", "█", t.good},
		{p.DiedAgain, "died again", "✗", t.alarm},
		{p.Running, "running", "●", t.accent},
		{p.Pending, "pending", "▒", t.text},
		{p.Gone, "gone", "·", t.dim},
		{p.Undone, "taken back", "▚", t.other},
		{p.Skipped, "skipped", "–", t.warn},
		{p.Left, "left dead", "▯", t.dim},
		{p.Waiting, "waiting", "░", t.faint},
	}
}

// planBar draws them as one bar of w cells. Whatever there is of gets a cell at least.
func planBar(t *theme, p *queue.Plan, w int) string {
	shares := planShares(t, p)
	percent := ""
	if p.Total > 0 {
		percent = fmt.Sprintf(" %3d %%", (p.Redriven+p.Undone+p.Skipped)*100/p.Total)
	}
	room := w - len(percent)
	if room < len(shares) || p.Total <= 0 {
		return t.dim.draw(percent)
	}
	widths, used, widest := make([]int, len(shares)), 0, 0
	for i, s := range shares {
		if s.n > 0 {
			widths[i] = max(int(float64(s.n)/float64(p.Total)*float64(room)), 1)
		}
		used += widths[i]
		if widths[i] > widths[widest] {
			widest = i
		}
	}
	widths[widest] += room - used
	var b strings.Builder
	for i, s := range shares {
		b.WriteString(s.ink.draw(strings.Repeat(s.glyph, max(widths[i], 0))))
	}
	return b.String() + t.strong.draw(percent)
}

// planLegend is what the bar's glyphs mean, and how many of each there are.
func planLegend(t *theme, p *queue.Plan, w int) (lines []string) {
	line, used := "", 0
	for _, s := range planShares(t, p) {
		if s.n == 0 && s.name != "completed" && s.name != "died again" && s.name != "waiting" {
			continue
		}
		number := thousands(s.n)
		width := safe.Width(s.glyph+" "+s.name+" "+number) + 3
		if used+width > w && used > 0 {
			lines = append(lines, "  "+line)
			line, used = "", 0
		}
		line += s.ink.draw(s.glyph) + t.dim.draw(" "+s.name+" ") + pick(s.n == 0, t.dim, t.strong).draw(number) + "   "
		used += width
	}
	return append(lines, "  "+line)
}
