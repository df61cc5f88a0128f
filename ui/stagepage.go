package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
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
	case pic.State != scenario.Waiting && pic.State != scenario.Shown:
		busy = fmt.Sprintf("step %d goes on: what is to be seen takes its time", pic.Step+1)
	}
	next := key("space", pick(pic.State == scenario.Shown, "read on", "next"), "go on: play the step that was told", func() tea.Cmd {
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
		if len(s.notable()) > 0 || len(world) == 0 {
			world = append(world, s.happenings(w, false))
		}
		narration := pick(w < 78, 4, 3)
		told := t.ruled(s.heading(), s.told(w-2, narration), w, narration+2, true)
		blocks := append([]section{s.steps(w, false)}, world...)
		return append(append(told, t.stacked(blocks, w, h-len(told), t.ruled, 1)...), last...)
	}
	told := t.boxed(s.heading(), s.told(w-4, 5), w, 7, true)
	left, rest := w*48/100, h-len(told)
	blocks := []section{s.steps(left-2, true)}
	if len(pic.Measures) > 0 {
		blocks = append(blocks, s.measures(left-2, true))
	}
	world := s.world(w-left-2, false)
	// What happened stands where there is more room for it.
	room := rest - heightOf(blocks, 2, section.fair)
	switch {
	case len(s.notable()) == 0 && len(world) > 0:
	case room >= eventsLeast+2 && room > rest-heightOf(world, 2, section.fair):
		blocks = append(blocks, s.happenings(left-2, true))
	default:
		world = append(world, s.happenings(w-left-2, true))
	}
	below := beside(t.stacked(blocks, left, rest, t.boxed, 2), t.stacked(world, w-left, rest, t.boxed, 2))
	return append(append(told, below...), last...)
}

// heading names the play.
func (s *stagePage) heading() heading {
	pic := &s.of.pic
	return heading{name: strings.ToUpper(pic.Name), rest: pic.Title, note: join(pic.Where, fmt.Sprintf("· seed %d", pic.Seed)), must: fmt.Sprintf("seed %d", pic.Seed)}
}

// oldNote says that what was read of the world is not of the present, where it is not. Of an
// outage that is said already.
func (s *stagePage) oldNote() string {
	pic := &s.of.pic
	if away(pic) != nil || !pic.Ended.IsZero() || pic.State == scenario.CleaningUp || pic.Looked.IsZero() {
		return ""
	}
	return s.pic.oldNote(pic.Looked)
}

// away is what all workers need and is not there now; nil when nothing is amiss.
func away(pic *scenario.Picture) *scenario.Outage {
	if !pic.Ended.IsZero() {
		return nil
	}
	for i := len(pic.Outages) - 1; i >= 0; i-- {
		if pic.Outages[i].Ended.IsZero() {
			return &pic.Outages[i]
		}
	}
	return nil
}

// sinceBegin is how long after the play's begin something was.
func (s *stagePage) sinceBegin(at time.Time) string {
	return fmt.Sprintf("%.1fs", max(at.Sub(s.of.pic.Began), 0).Seconds())
}
