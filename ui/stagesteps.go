package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// steps are the steps with what they assert, the one at hand in sight. Where there is
// little room, one that is over is just a line.
func (s *stagePage) steps(w int, roomy bool) section {
	pic := &s.of.pic
	held, all := map[bool]int{}, map[bool]int{} // of promises, and of harm
	for _, step := range pic.Steps {
		for _, a := range step.Assertions {
			all[a.Harm]++
			if a.State == scenario.Passed {
				held[a.Harm]++
			}
		}
	}
	head := heading{name: "ASSERTIONS", rest: fmt.Sprintf("%d of %d hold", held[false], all[false])}
	head.note, head.must = "✓ holds  ◌ awaited  · to come", "✓ holds  ◌ awaited"
	if all[true] > 0 { // it is no promise that is kept
		head.rest = pick(all[false] > 0, head.rest+", ", "") + fmt.Sprintf("harm %d of %d", held[true], all[true])
		head.note, head.must = "✓ holds  ▲ harm, as told", "▲ harm"
	}
	lines, _, _, _ := s.stepLines(w, roomy)
	return section{
		head: head,
		need: min(len(lines), pick(roomy, 3, 2)), good: min(len(lines), pick(roomy, 100, 3)), want: min(len(lines), pick(roomy, 100, 8)), grows: pick(roomy, 1, 0),
		draw: func(w, h int) []string {
			lines, from, to, at := s.stepLines(w, roomy)
			top := max(min(from, to-h), at-h, 0)
			if from < h && to <= h {
				top = 0
			}
			if harm := s.harmLine(w, roomy); harm >= 0 && pic.State == scenario.Passed { // what was shown is seen at the end
				top = min(max(top, harm-h+1), harm)
			}
			return lines[top:]
		},
	}
}

// harmLine is the line of the last harm that was shown; -1 where there is none.
func (s *stagePage) harmLine(w int, roomy bool) (at int) {
	at = -1
	line := 0
	for i, step := range s.of.pic.Steps {
		line += pick(roomy, 1, 0)
		for _, a := range step.Assertions {
			if a.Harm && a.State == scenario.Passed {
				at = line
			}
			line += len(s.assertion(&a, i, w, roomy))
		}
	}
	return at
}

// stepLines draws the steps; those of the step at hand are from … to-1, and what it awaits
// ends before at.
func (s *stagePage) stepLines(w int, roomy bool) (lines []string, from, to, at int) {
	t, pic := s.pic.theme, &s.of.pic
	for i, step := range pic.Steps {
		mark, k := t.faint.draw("·"), t.dim
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
			if i == pic.Step && (a.State == scenario.Playing || a.State == scenario.Failed) {
				at = len(lines)
			}
		}
		if i == pic.Step {
			to = len(lines)
		}
	}
	return lines, from, to, at
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
		if a.Harm {
			mark, k = t.warn.draw("▲"), t.warn
		}
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
