package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// told is what the audience is told: how the play stands, and the narration, or what came
// of it, in so many lines.
func (s *stagePage) told(w, h int) []string {
	t, pic := s.pic.theme, &s.of.pic
	dots := s.dots()
	lines := []string{" " + spread(s.stands(w-1-cells(dots)-6), []part{{dots, 0}}, w-1)}
	text, k := pic.Shows, t.strong
	switch {
	case !pic.Ended.IsZero() || pic.State == scenario.CleaningUp:
		text = s.verdict()
	case pic.State != scenario.SettingUp && pic.Step < len(pic.Steps):
		text = pic.Steps[pic.Step].Say
	}
	narration := wrap(text, w-2)
	if h > len(narration)+1 {
		lines = append(lines, "")
	}
	for _, line := range narration[:min(len(narration), max(h, 3))] {
		lines = append(lines, "  "+k.draw(line))
	}
	return lines
}

// stands says how the play stands, and what the audience can do, in about w cells.
func (s *stagePage) stands(w int) []part {
	t, pic := s.pic.theme, &s.of.pic
	keyed := func(k, does string) string { return t.accent.draw(k) + t.text.draw(strings.TrimRight(" "+does, " ")) }
	switch pic.State {
	case scenario.SettingUp:
		return []part{{t.chip(quiet, "SETTING THE STAGE"), 0}, {t.dim.draw(safe.Text(lastNote(pic))), 1}}
	case scenario.Shown:
		return []part{{t.chip(okay, "SEEN"), 0}, {t.text.draw(fmt.Sprintf("what step %d was to show", pic.Step+1)), 0}, {keyed("space", "reads on"), 1}}
	case scenario.Waiting:
		if pic.Auto {
			next := s.beside(w, []part{{t.chip(okay, "NEXT"), 0}})
			does := longest(room(next, w), "", "by itself", "by itself when it was read", "what is told here, by itself when it was read")
			return append(next, part{t.text.draw(does), 0}, part{keyed("space", "at once"), 1})
		}
		turn := s.beside(w, []part{{t.chip(okay, "YOUR TURN"), 0}})
		does := longest(room(turn, w)-len("space "), "", "does this", "does what is told here")
		return append(turn, part{keyed("space", does), 0}, part{keyed("a", "plays by itself"), 1})
	case scenario.CleaningUp:
		return []part{{t.chip(quiet, "CLEANING UP"), 0}, {t.dim.draw("its workers are ended, its jobs removed"), 1}}
	case scenario.Playing:
		watch := s.beside(w, []part{{t.chip(caution, "WATCH"), 0}})
		return append(watch, part{t.text.draw(brief(s.awaited(), max(room(watch, w), 1))), 0})
	}
	kind, word, after := endTone(pic.State)
	return []part{{t.chip(kind, strings.ToUpper(word)), 0}, {t.text.draw(after + short(pic.Ended.Sub(pic.Began))), 0}, {keyed("enter", "plays it again"), 1}}
}

// beside adds what is away meanwhile, and for how long it has been.
func (s *stagePage) beside(w int, parts []part) []part {
	away := away(&s.of.pic)
	if away == nil {
		return parts
	}
	lasts := lasting(s.of.seen.Sub(away.Began))
	text := join(brief(away.Text, max(room(parts, w)-len(lasts)-len(" space")-2, 8)), lasts)
	return slices.Insert(parts, 1, part{s.pic.theme.bad.draw(text), 0})
}

// room is how many of w cells are left beside parts.
func room(parts []part, w int) int {
	for _, one := range parts {
		w -= cells(one.text) + 2
	}
	return w
}

// longest is the last of some texts, the shortest first, that has room in w cells.
func longest(w int, texts ...string) (fits string) {
	for _, text := range texts {
		if safe.Width(text) <= w {
			fits = text
		}
	}
	return fits
}

// awaited is what is to be seen next: what is looked for now, or will be as soon as all is
// done that the step does; of a step that asserts nothing, its name.
func (s *stagePage) awaited() string {
	pic := &s.of.pic
	if pic.Step < len(pic.Steps) {
		step := &pic.Steps[pic.Step]
		soon := ""
		for _, a := range step.Assertions {
			switch {
			case a.State == scenario.Playing:
				return a.Text
			case a.State == scenario.ToCome && soon == "":
				soon = "soon: " + a.Text
			}
		}
		if text := cmp.Or(soon, step.Name); text != "" {
			return text
		}
	}
	return "this is being done…"
}

// dots are the steps: those that are over, the one at hand, those to come.
func (s *stagePage) dots() string {
	t, pic := s.pic.theme, &s.of.pic
	out := ""
	for _, step := range pic.Steps {
		switch step.State {
		case scenario.Passed:
			out += t.good.draw("✓")
		case scenario.Failed:
			out += t.alarm.draw("✗")
		case scenario.ToCome:
			out += t.faint.draw("·")
		default:
			out += t.lead.draw("▸")
		}
	}
	return t.dim.draw(fmt.Sprintf(pick(pic.State == scenario.Waiting, "next: ", "")+"step %d of %d ", min(pic.Step+1, len(pic.Steps)), len(pic.Steps))) + out
}

// verdict says what came of the play.
func (s *stagePage) verdict() string {
	pic := &s.of.pic
	switch {
	case pic.State == scenario.Passed:
		return pic.Shows
	case pic.State == scenario.Cancelled:
		return "It was stopped in step " + fmt.Sprint(pic.Step+1) + ", and its world is taken down: nothing of it is left. " + strings.TrimSpace(strings.TrimPrefix(pic.Err, scenario.ErrCancelled.Error()))
	case pic.Err != "":
		return pic.Err
	}
	for i, step := range pic.Steps {
		for _, a := range step.Assertions {
			if a.State == scenario.Failed {
				return fmt.Sprintf("Step %d "+pick(a.Harm, "was to show the harm", "promised")+": %s. Within %s that was not to be seen: %s", i+1, a.Text, short(a.Within), a.Seen)
			}
		}
	}
	for _, m := range pic.Measures {
		if m.State == scenario.Failed {
			return fmt.Sprintf("Not within its bound, %s: %s, which is %s.", join(m.Bound.String(), m.Unit), cmp.Or(m.Text, m.Name), join(figure(m.Value), m.Unit))
		}
	}
	if !pic.Invariants.Kept() {
		return "What must hold in every story does not: see the last line."
	}
	return "Its world is being taken down."
}

// lastNote is the story's own latest event.
func lastNote(pic *scenario.Picture) string {
	if n := len(pic.Events); n > 0 {
		return pic.Events[n-1].Text
	}
	return ""
}
