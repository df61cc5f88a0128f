package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// measures are the play's figures, each against its bound; w cells wide. They have a line
// each, and more where there is room: first those whose words have no room in one. Where
// there is little room, those that are known have a line, or the newest has the heading.
func (s *stagePage) measures(w int, roomy bool) section {
	all, known := s.of.pic.Measures, s.known()
	below := 0 // lines, where each has its figure below its words
	for i := range all {
		below += len(s.measure(&all[i], w, true))
	}
	block := section{
		titled: func(_, h int) heading {
			head := heading{name: "MEASURES", note: "│ is the bound"}
			if known > 0 && known < len(all) {
				head.rest = fmt.Sprintf("%d of %d known", known, len(all))
			}
			if h == 0 {
				head.rest, head.note = s.newest(w-16), ""
			}
			return head
		},
		need: len(all), good: len(all), want: below,
		draw: func(w, h int) (lines []string) {
			unfold := s.unfolded(w, h)
			for _, i := range s.foremost(h) {
				lines = append(lines, s.measure(&all[i], w, unfold[i])...)
			}
			return lines
		},
	}
	if !roomy {
		block.whole = true
		block.need, block.good, block.want, block.last = 0, known, known, 3
		if slices.ContainsFunc(all, func(m scenario.MeasurePicture) bool { return s.of.fresh(m.Name) }) || !s.of.pic.Ended.IsZero() {
			block.last = 0
		}
	}
	return block
}

// newest says of the measure that came last what it is, in w cells; of several that came
// together, of one with a bound.
func (s *stagePage) newest(w int) string {
	var last *scenario.MeasurePicture
	for i := range s.of.pic.Measures {
		m := &s.of.pic.Measures[i]
		if m.State == scenario.ToCome {
			continue
		}
		if last == nil || s.of.came[m.Name] > s.of.came[last.Name] || s.of.came[m.Name] == s.of.came[last.Name] && last.Bound.String() == "" {
			last = m
		}
	}
	if last == nil {
		return ""
	}
	figures := join(figure(last.Value), last.Unit)
	if bound := last.Bound.String(); bound != "" {
		figures += " │ " + grouped(bound)
	}
	mark := map[scenario.State]string{scenario.Failed: "✗ ", scenario.Unjudged: "– "}[last.State]
	end := ": " + figures + pick(s.of.fresh(last.Name), " ◂ new", "")
	return cmp.Or(mark, pick(last.Harm, "▲ ", "✓ ")) + s.cut(cmp.Or(last.Text, last.Name), max(w-2-safe.Width(safe.Text(end)), 4)) + end
}

// cut shortens the words of a measure to w cells: in the middle where other measures begin
// alike, so that what tells them apart is left.
func (s *stagePage) cut(words string, w int) string {
	words = safe.Text(words)
	short := brief(words, w)
	if short == words || w < 3 {
		return short
	}
	kept := strings.TrimSuffix(short, "…")
	for _, one := range s.of.pic.Measures {
		if other := safe.Text(cmp.Or(one.Text, one.Name)); other != words && strings.HasPrefix(other, kept) {
			return strings.TrimRight(middled(words, w), " ")
		}
	}
	return short
}

// known is how many measures were taken.
func (s *stagePage) known() (n int) {
	for _, m := range s.of.pic.Measures {
		if m.State != scenario.ToCome {
			n++
		}
	}
	return n
}

// unfolded are the measures that have their figures below their words in h lines of w
// cells: those whose words would be cut beside it before the others, and of these in the
// order of foremost.
func (s *stagePage) unfolded(w, h int) map[int]bool {
	all, unfold := s.of.pic.Measures, map[int]bool{}
	room := h - len(all)
	for _, cut := range []bool{true, false} {
		for _, fresh := range []bool{true, false} {
			for i := range all {
				m := &all[i]
				words := cmp.Or(m.Text, m.Name)
				if s.of.fresh(m.Name) != fresh || (safe.Width(safe.Text(words)) > s.besideWidth(m, w)) != cut {
					continue
				}
				if more := len(s.measure(m, w, true)) - 1; more <= room {
					unfold[i] = true
					room -= more
				}
			}
		}
	}
	return unfold
}

// foremost are n measures in their order: those that have just come, then what is known.
func (s *stagePage) foremost(n int) []int {
	all := s.of.pic.Measures
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch m := all[i]; {
		case s.of.fresh(m.Name):
			return 0
		case m.State != scenario.ToCome:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(rank(i), rank(k)) })
	order = order[:min(n, len(order))]
	slices.Sort(order)
	return order
}

// measure draws what a figure is of, and the figure as a bar on which the bound is marked:
// below it, or beside.
func (s *stagePage) measure(m *scenario.MeasurePicture, w int, below bool) []string {
	t := s.pic.theme
	mark, k, value := t.faint.draw("·"), t.dim, valueText(m)
	if m.State != scenario.ToCome {
		mark, k = t.good.draw("✓"), t.good
		if m.Harm { // its bound is no promise
			mark, k = t.warn.draw("▲"), t.warn
		}
	}
	switch m.State {
	case scenario.Failed:
		mark, k = t.alarm.draw("✗"), t.alarm
	case scenario.Unjudged:
		mark, k = t.warn.draw("–"), t.warn
	}
	bound := boundText(m)
	words := cmp.Or(m.Text, m.Name)
	valueW, boundW := s.valueWidth(), s.boundWidth()
	told, fresh := t.text, ""
	if s.of.fresh(m.Name) {
		told, fresh = t.lead, t.lead.draw(newMark)
	}
	shown := pick(m.State == scenario.ToCome, t.faint, pick(fresh != "", t.lead, t.strong)).draw(safe.FitRight(value, valueW))
	against := func(room int) string {
		if bar := t.boundBar(m, k, min(room, 40)); bar != "" {
			return "  " + bar + " " + t.dim.draw(bound)
		}
		return "  " + t.dim.draw(bound)
	}
	if below {
		var lines []string
		for i, line := range wrap(words, max(w-4-cells(fresh), 1)) {
			lines = append(lines, pick(i == 0, " "+mark+" ", "   ")+told.draw(line)+pick(i == 0, fresh, ""))
		}
		return append(lines, "  "+shown+against(w-valueW-boundW-6))
	}
	textW := 4
	for _, one := range s.of.pic.Measures {
		textW = max(textW, safe.Width(safe.Text(cmp.Or(one.Text, one.Name))))
	}
	textW = min(textW, s.besideWidth(m, w))
	return []string{" " + mark + " " + told.draw(safe.Fit(s.cut(words, textW), textW)) + " " + shown + against(w-textW-valueW-boundW-8-cells(fresh)) + fresh}
}

// newMark stands behind what has just come.
const newMark = " ◂ new"

// valueText is the value of a measure with its unit, safe to print; – before it is known.
func valueText(m *scenario.MeasurePicture) string {
	if m.State == scenario.ToCome {
		return "–"
	}
	return join(figure(m.Value), safe.Text(m.Unit))
}

// boundText is the bound of a measure with its unit, safe to print; "" where there is none.
func boundText(m *scenario.MeasurePicture) string {
	if m.Bound.String() == "" {
		return ""
	}
	return join(grouped(m.Bound.String()), safe.Text(m.Unit))
}

// valueWidth is how wide the widest value is, or may become: four digits and a unit.
func (s *stagePage) valueWidth() (w int) {
	for i := range s.of.pic.Measures {
		m := &s.of.pic.Measures[i]
		w = max(w, safe.Width(valueText(m)), safe.Width(join("1.23", safe.Text(m.Unit))))
	}
	return w
}

// boundWidth is how wide the bounds of all measures are.
func (s *stagePage) boundWidth() (w int) {
	for _, one := range s.of.pic.Measures {
		w = max(w, safe.Width(boundText(&one)))
	}
	return w
}

// besideWidth is how many of w cells the words of a measure have whose figure is beside them.
func (s *stagePage) besideWidth(m *scenario.MeasurePicture, w int) int {
	return max(w-s.valueWidth()-s.boundWidth()-7-pick(s.of.fresh(m.Name), safe.Width(newMark), 0), 8)
}

// boundBar draws a measure in w cells; "" where there is no bound to draw it against, or
// no room.
func (t *theme) boundBar(m *scenario.MeasurePicture, k ink, w int) string {
	least, most := m.Bound.Limits()
	limit := 0.0
	for _, one := range []*float64{least, most} {
		if one != nil {
			limit = max(limit, *one)
		}
	}
	if limit <= 0 || w < 6 {
		return ""
	}
	value := 0.0
	if m.State != scenario.ToCome {
		value = max(m.Value, 0)
	}
	whole := max(limit*1.25, value)
	full := max(min(int(value/whole*float64(w)+0.5), w), 0)
	at := func(limit *float64) int {
		if limit == nil {
			return -1
		}
		return max(min(int(*limit/whole*float64(w)+0.5), w-1), 0)
	}
	low, high := at(least), at(most)
	line := ""
	for x := range w {
		switch {
		case x == low || x == high:
			line += t.strong.draw("│")
		case x < full:
			line += k.draw("█")
		default:
			line += t.faint.draw("░")
		}
	}
	return line
}

// figure writes a measured value in two digits, and never less of it than whole numbers.
func figure(v float64) string {
	switch {
	case v == float64(int64(v)) && v < 1e15 && v > -1e15:
		return thousands(int64(v))
	case v >= 1000 || v <= -1000:
		return thousands(int64(v + 0.5))
	}
	if v >= 10 || v <= -10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
