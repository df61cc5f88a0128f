package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// steps are the steps with what they assert, the one at hand in sight. Where there is
// little room, one that is over is just a line.
func (s *stagePage) steps(roomy bool) section {
	pic := &s.of.pic
	held, all := 0, 0
	for _, step := range pic.Steps {
		for _, a := range step.Assertions {
			all++
			if a.State == scenario.Passed {
				held++
			}
		}
	}
	lines, _, _ := s.stepLines(60, roomy)
	return section{
		head: heading{name: "ASSERTIONS", rest: fmt.Sprintf("%d of %d hold", held, all), note: "looked at over connections of no worker"},
		need: min(len(lines), 3), good: min(len(lines), 3), want: min(len(lines), pick(roomy, 100, 8)), grows: pick(roomy, 1, 0),
		draw: func(w, h int) []string {
			lines, from, to := s.stepLines(w, roomy)
			top := max(min(from, to-h), 0)
			if from < h && to <= h {
				top = 0
			}
			return lines[top:]
		},
	}
}

// stepLines draws the steps; those of the step at hand are from … to-1.
func (s *stagePage) stepLines(w int, roomy bool) (lines []string, from, to int) {
	t, pic := s.pic.theme, &s.of.pic
	for i, step := range pic.Steps {
		mark, k := t.faint.draw("○"), t.dim
		switch step.State {
		case scenario.Passed:
			mark = t.good.draw("✓")
		case scenario.Failed:
			mark, k = t.alarm.draw("✗"), t.text
		case scenario.Waiting, scenario.Playing:
			mark, k = t.lead.draw("▸"), t.text
		}
		if i == pic.Step {
			from = len(lines)
		}
		took := ""
		if step.Took > 0 {
			took = short(step.Took)
		}
		if roomy {
			head := fmt.Sprintf("%d  %s", i+1, brief(pick(step.Name != "", step.Name, step.Say), max(w-8-len(took), 1)))
			lines = append(lines, " "+mark+" "+atEnds(k.draw(head), t.dim.draw(took), w-4))
		}
		for _, a := range step.Assertions {
			lines = append(lines, s.assertion(&a, i, w, roomy)...)
		}
		if i == pic.Step {
			to = len(lines)
		}
	}
	return lines, from, to
}

// lookedAtOnce is the patience below which an assertion is of what is so already.
const lookedAtOnce = 50 * time.Millisecond

// tookTime is from when on it is worth telling how long an assertion took to hold.
const tookTime = 10 * time.Millisecond

// assertion draws one, with how long it took, or has had of the time it may take.
func (s *stagePage) assertion(a *scenario.AssertionPicture, step, w int, roomy bool) (lines []string) {
	t := s.pic.theme
	mark, k, time := t.faint.draw("·"), t.dim, ""
	if step == s.of.pic.Step {
		time = t.faint.draw(pick(a.Within < lookedAtOnce, "at once", "in "+seconds(a.Within)))
	}
	switch a.State {
	case scenario.Passed:
		mark, k, time = t.good.draw("✓"), t.text, ""
		if a.Took >= tookTime { // less is what the look itself takes
			time = t.dim.draw(short(a.Took))
		}
	case scenario.Failed:
		mark, k, time = t.alarm.draw("✗"), t.alarm, t.alarm.draw("not "+pick(a.Within < lookedAtOnce, "so", "in "+seconds(a.Within)))
	case scenario.Playing:
		mark, k = t.lead.draw("◌"), t.strong
		share := max(min(a.Took.Seconds()/max(a.Within.Seconds(), 0.001), 1), 0)
		full := int(share*4 + 0.5)
		time = t.text.draw(fmt.Sprintf("%.1f/%s ", a.Took.Seconds(), seconds(a.Within))) + t.accent.draw(strings.Repeat("█", full)) + t.faint.draw(strings.Repeat("░", 4-full))
	}
	front, indent := " "+mark+" ", 3
	if roomy {
		front, indent = "   "+front, 6
	} else {
		front, indent = " "+t.dim.draw(strconv.Itoa(step+1))+front, 5
	}
	room := w - indent - 1
	for i, line := range wrap(a.Text, max(room-cells(time)-1, 10)) {
		if i == 0 {
			lines = append(lines, front+atEnds(k.draw(line), time, room))
			continue
		}
		lines = append(lines, strings.Repeat(" ", indent)+k.draw(line))
	}
	if a.State == scenario.Failed && a.Seen != "" {
		for _, line := range wrap("there was: "+a.Seen, max(room, 1)) {
			lines = append(lines, strings.Repeat(" ", indent)+t.bad.draw(line))
		}
	}
	return lines
}

// atEnds writes two drawings to the ends of w cells.
func atEnds(left, right string, w int) string {
	blank := w - cells(left) - cells(right)
	if blank < 1 {
		return safe.FitStyled(left, max(w-cells(right)-1, 0)) + " " + right
	}
	return left + strings.Repeat(" ", blank) + right
}

// seconds writes a time that somebody chose: 3 s, 0.5 s, 2m.
func seconds(d time.Duration) string {
	if d >= 2*time.Minute {
		return age(d)
	}
	return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) + " s"
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

// measures are the play's figures, each against its bound.
func (s *stagePage) measures(roomy bool) section {
	all := s.of.pic.Measures
	draw := func(w int, below bool) (lines []string) {
		for i := range all {
			lines = append(lines, s.measure(&all[i], w, below)...)
		}
		return lines
	}
	return section{
		head: heading{name: "MEASURES", note: "│ is the bound"}, need: len(all), good: len(all), want: len(draw(50, roomy)),
		draw: func(w, h int) []string {
			if lines := draw(w, true); len(lines) <= h {
				return lines
			}
			return draw(w, false)
		},
	}
}

// measure draws what a figure is of, and the figure as a bar on which the bound is marked:
// below it, or beside.
func (s *stagePage) measure(m *scenario.MeasurePicture, w int, below bool) []string {
	t := s.pic.theme
	mark, k, value := t.faint.draw("·"), t.dim, "–"
	if m.State != scenario.ToCome {
		mark, k, value = t.good.draw("✓"), t.good, join(figure(m.Value), safe.Text(m.Unit))
	}
	switch m.State {
	case scenario.Failed:
		mark, k = t.alarm.draw("✗"), t.alarm
	case scenario.Unjudged:
		mark, k = t.warn.draw("–"), t.warn
	}
	bound := join(m.Bound.String(), safe.Text(m.Unit))
	if m.Bound.String() == "" {
		bound = ""
	}
	words := cmp.Or(m.Text, m.Name)
	valueW, boundW := max(9, safe.Width(value)), 0
	for _, one := range s.of.pic.Measures {
		if b := one.Bound.String(); b != "" {
			boundW = max(boundW, safe.Width(join(b, safe.Text(one.Unit))))
		}
	}
	shown := pick(m.State == scenario.ToCome, t.faint, t.strong).draw(safe.FitRight(value, valueW))
	against := func(room int) string {
		if bar := t.boundBar(m, k, min(room, 40)); bar != "" {
			return "  " + bar + " " + t.dim.draw(bound)
		}
		return "  " + t.dim.draw(bound)
	}
	if below {
		var lines []string
		for i, line := range wrap(words, max(w-4, 1)) {
			lines = append(lines, pick(i == 0, " "+mark+" ", "   ")+t.text.draw(line))
		}
		return append(lines, "  "+shown+against(w-valueW-boundW-6))
	}
	textW := 4
	for _, one := range s.of.pic.Measures {
		textW = max(textW, safe.Width(safe.Text(cmp.Or(one.Text, one.Name))))
	}
	textW = max(min(textW, w-valueW-boundW-7), 8)
	return []string{" " + mark + " " + t.text.draw(safe.Fit(words, textW)) + " " + shown + against(w-textW-valueW-boundW-8)}
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
