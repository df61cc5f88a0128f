package ui

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// bars are figures beside each other, as in a race: thick ones where there is room.
func (s *stagePage) bars() section {
	t, all := s.pic.theme, s.of.pic.Bars
	notes := 0
	for _, b := range all {
		if b.Note != "" {
			notes++
		}
	}
	head := heading{name: "SIDE BY SIDE"}
	if slices.ContainsFunc(all, func(b scenario.Bar) bool { return b.Over }) {
		head.note, head.must = "■ done", "■ done"
	}
	return section{head: head, need: len(all) + notes, good: len(all) + notes, want: 2*len(all) + notes, draw: func(w, h int) (lines []string) {
		nameW, valueW := 4, 4
		for _, b := range all {
			nameW = max(nameW, min(safe.Width(safe.Text(b.Name)), w/3))
			valueW = max(valueW, min(safe.Width(barValue(b)), w/4))
		}
		wide := max(w-nameW-valueW-6, 4)
		for _, b := range all {
			bar := t.raceBar(b, wide)
			over := pick(b.Over, t.good.draw("■"), " ")
			lines = append(lines, " "+t.strong.draw(safe.Fit(b.Name, nameW))+" "+bar+" "+t.strong.draw(safe.FitRight(barValue(b), valueW))+" "+over)
			if h >= 2*len(all)+notes {
				lines = append(lines, strings.Repeat(" ", nameW+2)+bar)
			}
			if b.Note != "" && h >= len(all)+notes {
				lines = append(lines, strings.Repeat(" ", nameW+2)+pick(b.Bad, t.alarm, t.dim).draw(brief(pick(b.Bad, "✗ ", "")+grouped(b.Note), max(w-nameW-3, 1))))
			}
		}
		return lines
	}}
}

// manyFigures is a whole number of a thousand and more.
var manyFigures = regexp.MustCompile(`(^|[^\p{L}\d.,#_-])(\d{4,15})\b`)

// grouped writes whole numbers in a text as all others are.
func grouped(text string) string {
	return manyFigures.ReplaceAllStringFunc(text, func(found string) string {
		digits := strings.TrimLeftFunc(found, func(r rune) bool { return r < '0' || r > '9' })
		n, _ := strconv.ParseInt(digits, 10, 64)
		return strings.TrimSuffix(found, digits) + thousands(n)
	})
}

// raceBar draws a bar of w cells.
func (t *theme) raceBar(b scenario.Bar, w int) string {
	share := 0.0
	if b.Most > 0 {
		share = max(min(b.Value/b.Most, 1), 0)
	}
	eighths := int(share*float64(w)*8 + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return pick(b.Bad, t.bad, t.accent).draw(bar) + t.faint.draw(strings.Repeat("·", max(w-safe.Width(bar), 0)))
}

func barValue(b scenario.Bar) string { return join(figure(b.Value), safe.Text(b.Unit)) }

// plot is a figure over time, with what happened meanwhile.
func (s *stagePage) plot(p *scenario.Plot) section {
	t := s.pic.theme
	now := p.Points[len(p.Points)-1]
	head := heading{name: strings.ToUpper(p.Name), rest: join(figure(now), p.Unit)}
	return section{head: head, need: 3, good: 6, want: 9, grows: 2, draw: func(w, h int) []string {
		var alike []float64 // plots of the same unit have the same scale, and can be compared
		for _, one := range s.of.pic.Plots {
			if one.Unit == p.Unit {
				alike = append(alike, one.Points...)
			}
		}
		high := ceiling(alike)
		top := join(figure(high), safe.Text(p.Unit))
		label := max(safe.Width(top), 1)
		wide := w - label - 4
		if wide < 8 {
			return nil
		}
		// A column is so many points, from the first on: what was drawn stays as it was.
		each := max((len(p.Points)+wide-1)/wide, 1)
		var peaks []float64
		for some := range slices.Chunk(p.Points, each) {
			peaks = append(peaks, slices.Max(some))
		}
		marks := t.marks(p, each, wide, max(min(h/3, 2), 0))
		rows := h - len(marks)
		lines := make([]string, 0, h)
		for y, bars := range t.skyline(peaks, nil, len(peaks), rows, high) {
			text := ""
			if y == 0 {
				text = top
			} else if y == rows-1 {
				text = "0"
			}
			lines = append(lines, " "+t.dim.draw(safe.FitRight(text, label))+t.faint.draw(" ┤")+bars)
		}
		for _, m := range marks {
			lines = append(lines, strings.Repeat(" ", label+3)+m)
		}
		return lines
	}}
}

// marks draws the moments of a plot below it, in so many lines at most. A column is so
// many points each.
func (t *theme) marks(p *scenario.Plot, each, wide, h int) []string {
	ends, lines := make([]int, h), make([]string, h)
	used := 0
	for _, m := range p.Marks {
		if m.At < 0 {
			continue
		}
		x := min(m.At/each, wide-1)
		text := "↑ " + safe.Text(m.Text)
		n := safe.Width(text)
		if x+n > wide { // to the left of its moment
			text = safe.Text(m.Text) + " ↑"
			x = max(x-n+1, 0)
			text, n = safe.FitStyled(text, min(n, wide)), min(n, wide)
		}
		for y := range h {
			if x >= ends[y] {
				lines[y] += strings.Repeat(" ", x-ends[y]) + t.warn.draw(text)
				ends[y] = x + n + 2
				lines[y] += "  "
				used = max(used, y+1)
				break
			}
		}
	}
	return lines[:used]
}
