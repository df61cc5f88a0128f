package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// stagePage is a play while it is given: what is told and asserted, and its world beside it.
type stagePage struct {
	pic *picture
	of  *performance
}

// Show takes a new picture.
func (s *stagePage) Show(p *picture) { s.pic = p }

// Name is what the help calls it.
func (s *stagePage) Name() string { return "Scenario" }

// Move does nothing: the play decides what is in sight.
func (s *stagePage) Move(motion) {}

// Cycle does nothing.
func (s *stagePage) Cycle(int) {}

// Keys are what the audience can do.
func (s *stagePage) Keys(a *app) []action {
	p, pic := s.of, &s.of.latest
	busy, over := "", ""
	switch {
	case p.over():
		over = "it is over: enter plays it again"
	case pic.State == scenario.SettingUp:
		busy = "the stage is being set"
	case pic.State == scenario.CleaningUp:
		busy = "it is ending"
	case pic.State != scenario.Waiting:
		busy = fmt.Sprintf("step %d goes on: what is to be seen takes its time", pic.Step+1)
	}
	next := key("space", "next", "go on: play the step that was told", func() tea.Cmd {
		p.play.Next()
		return nil
	}).unless(over).unless(busy)
	auto := key("a", pick(pic.Auto, "by hand", "autoplay"), "autoplay: each step goes on by itself when its text had time to be read; again, and each waits for space", func() tea.Cmd {
		p.play.Auto(!pic.Auto)
		return nil
	}).unless(over)
	back := a.backKey()
	back.help += "; the play goes on, and waits for you"
	if !p.over() {
		stop := a.stopKey()
		stop.keys = []string{"S", "s"}
		return []action{next, auto, stop, back}
	}
	again := func(seed uint64) func() tea.Cmd {
		return func() tea.Cmd {
			a.over = a.over[:len(a.over)-1]
			a.show()
			return a.begin(pic.Name, seed)
		}
	}
	why := ""
	if live := a.plays.live(); live != nil {
		why = live.latest.Name + " goes on"
	} else if a.plays.begins {
		why = "one is being begun"
	}
	back.help = "back to where this was opened"
	return []action{
		key("enter", "play again", "play the scenario again; what is drawn by lot may come otherwise", again(0)).unless(why),
		key("r", "same seed", fmt.Sprintf("play it again by the same seed, %d: what is drawn by lot comes as it did", pic.Seed), again(pic.Seed)).unless(why),
		back,
	}
}

// View draws the page.
func (s *stagePage) View(w, h int) []string {
	t, pic := s.pic.theme, &s.of.pic
	last := s.invariants(w)
	h -= len(last)
	wide := w >= wideWidth && h >= wideHeight-5
	if !wide {
		world := s.world(w, true)
		narration := pick(w < 78, 4, 3)
		told := t.ruled(s.heading(), s.told(w-2, narration), w, narration+2, true)
		blocks := append([]section{s.steps(false)}, world...)
		return append(append(told, t.stacked(blocks, w, h-len(told), t.ruled, 1)...), last...)
	}
	told := t.boxed(s.heading(), s.told(w-4, 5), w, 7, true)
	left, rest := w*48/100, h-len(told)
	world := s.world(w-left-2, false)
	blocks := []section{s.steps(true)}
	if len(pic.Measures) > 0 {
		blocks = append(blocks, s.measures(true))
	}
	below := beside(t.stacked(blocks, left, rest, t.boxed, 2), t.stacked(world, w-left, rest, t.boxed, 2))
	return append(append(told, below...), last...)
}

// section is a part of the page: it wants so many lines beside its edges, is good from
// fewer on, and left out where there are not so many as it needs.
type section struct {
	head             heading
	need, good, want int
	grows            int // what grows most gets what is left over
	draw             func(w, h int) []string
}

// stacked draws blocks below each other. Where there is little room the first ones are
// drawn first; all are made good before any has more.
func (t *theme) stacked(blocks []section, w, h int, frame func(heading, []string, int, int, bool) []string, edges int) []string {
	heights, left := make([]int, len(blocks)), h
	for i, one := range blocks {
		if n := one.need + edges; n <= left {
			heights[i] = n
			left -= n
		}
	}
	grow := func(to func(section) int) {
		for more := true; more && left > 0; {
			more = false
			for i, one := range blocks {
				if heights[i] > 0 && heights[i] < to(one)+edges && left > 0 {
					heights[i]++
					left--
					more = true
				}
			}
		}
	}
	grow(func(one section) int { return min(one.good, one.want) })
	grow(func(one section) int { return one.want })
	grower := -1
	for i, one := range blocks {
		if heights[i] > 0 && (grower < 0 || one.grows > blocks[grower].grows) {
			grower = i
		}
	}
	if grower < 0 {
		return blankLines(w, h)
	}
	heights[grower] += left
	var lines []string
	for i, one := range blocks {
		if heights[i] > 0 {
			lines = append(lines, frame(one.head, one.draw(w-2*(edges-1), heights[i]-edges), w, heights[i], false)...)
		}
	}
	return lines
}

// heading names the play.
func (s *stagePage) heading() heading {
	pic := &s.of.pic
	return heading{name: strings.ToUpper(pic.Name), rest: pic.Title, note: join(pic.Where, fmt.Sprintf("· seed %d", pic.Seed)), must: fmt.Sprintf("seed %d", pic.Seed)}
}

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
	keyed := func(k, does string) string { return t.accent.draw(k) + t.text.draw(" "+does) }
	switch pic.State {
	case scenario.SettingUp:
		return []part{{t.chip(quiet, "SETTING THE STAGE"), 0}, {t.dim.draw(safe.Text(lastNote(pic))), 1}}
	case scenario.Waiting:
		if pic.Auto {
			return []part{{t.chip(okay, "NEXT"), 0}, {t.text.draw("goes on by itself when this was read"), 0}, {keyed("space", "at once"), 1}}
		}
		return []part{{t.chip(okay, "YOUR TURN"), 0}, {keyed("space", "goes on"), 0}, {keyed("a", "plays by itself"), 1}}
	case scenario.CleaningUp:
		return []part{{t.chip(quiet, "CLEANING UP"), 0}, {t.dim.draw("its workers are ended, its jobs removed"), 1}}
	case scenario.Playing:
		chip := t.chip(caution, "WATCH")
		return []part{{chip, 0}, {t.text.draw(brief(s.awaited(), max(w-cells(chip), 1))), 0}}
	}
	kind, word, after := endTone(pic.State)
	return []part{{t.chip(kind, strings.ToUpper(word)), 0}, {t.text.draw(after + short(pic.Ended.Sub(pic.Began))), 0}, {keyed("enter", "plays it again"), 1}}
}

// awaited is what is to be seen next.
func (s *stagePage) awaited() string {
	pic := &s.of.pic
	if pic.Step < len(pic.Steps) {
		for _, a := range pic.Steps[pic.Step].Assertions {
			if a.State == scenario.Playing {
				return a.Text
			}
		}
	}
	return "it is being done…"
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
			out += t.faint.draw("○")
		default:
			out += t.lead.draw("●")
		}
	}
	return t.dim.draw(fmt.Sprintf("step %d of %d ", min(pic.Step+1, len(pic.Steps)), len(pic.Steps))) + out
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
				return fmt.Sprintf("Step %d promised: %s. Within %s that was not to be seen: %s", i+1, a.Text, short(a.Within), a.Seen)
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

// oldNote says that what was read of the world is not of the present, where it is not.
func (s *stagePage) oldNote() string {
	pic := &s.of.pic
	if !pic.Ended.IsZero() || pic.State == scenario.CleaningUp || pic.Looked.IsZero() {
		return ""
	}
	return s.pic.oldNote(pic.Looked)
}

// sinceBegin is how long after the play's begin something was.
func (s *stagePage) sinceBegin(at time.Time) string {
	return fmt.Sprintf("%.1fs", max(at.Sub(s.of.pic.Began), 0).Seconds())
}
