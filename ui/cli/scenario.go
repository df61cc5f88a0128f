package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

// ScenarioOptions say which scenarios are played, and how.
type ScenarioOptions struct {
	Names []string // none are all
	Seed  uint64   // 0 draws one for each
	Yes   bool     // play on somebody's own database, too
}

// scenarioListed is a scenario as list prints it as JSON.
type scenarioListed struct {
	Name  string         `json:"name"`
	Title string         `json:"title"`
	Shows string         `json:"shows"`
	Needs scenario.Needs `json:"needs"`
	Lasts float64        `json:"lasts_s"`
	Steps int            `json:"steps"`
}

// Scenarios prints which scenarios there are.
func Scenarios(p Printer) error {
	rows := [][]string{}
	for _, s := range stories.All() {
		if p.Format == JSON {
			if err := line(p.Out, scenarioListed{s.Name, s.Title, s.Shows, s.Needs, s.Lasts.Seconds(), len(s.Steps)}); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{s.Name, string(s.Needs), s.Lasts.String(), s.Title})
	}
	if p.Format == JSON {
		return nil
	}
	return table(p.Out, []column{
		{title: "SCENARIO", holds: names}, {title: "NEEDS A"}, {title: "LASTS", right: true}, {title: "WHAT HAPPENS"},
	}, rows)
}

// PlayScenarios plays scenarios one after another, without an audience, and prints how each
// went: as it goes for people, one line each as JSON. The error says how many failed, or
// that somebody stopped them. On a database that is not for demonstrations only those are
// played that keep to queues of their own, and only with Yes.
func PlayScenarios(ctx context.Context, p Printer, d *Database, o ScenarioOptions) error {
	stories, err := chosenScenarios(o.Names)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(stories, func(s scenario.Scenario) bool { return s.Needs == scenario.Queue }) {
		if err := d.Ping(ctx); err != nil { // else each play would fail of it
			return err
		}
	}
	ground := d.Ground()
	barred := map[scenario.Needs]bool{}
	why := "" // all of it for one reason
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema, scenario.Server} {
		ok, because, err := ground.Allows(ctx, needs)
		if err != nil {
			return err
		}
		if !ok {
			barred[needs], why = true, because
		}
	}
	if len(barred) > 0 {
		isBarred := func(s scenario.Scenario) bool { return barred[s.Needs] }
		kept := slices.DeleteFunc(slices.Clone(stories), isBarred)
		switch {
		case (len(o.Names) > 0 || len(kept) == 0) && len(kept) < len(stories):
			other := stories[slices.IndexFunc(stories, isBarred)]
			return Usage(fmt.Sprintf("%s needs a %s of its own: %s", other.Name, other.Needs, why))
		case !o.Yes:
			return Usage("this is somebody's own database (" + why + "). A scenario that keeps to queues of its own can be played here. " +
				scenario.OnSomebodysOwn + " What is left are " + scenario.Left + ". Add --yes if that is meant")
		case len(kept) < len(stories):
			fmt.Fprintf(p.Err, "leasetop: %d scenarios left out that need more than a queue: %s\n", len(stories)-len(kept), safe.Text(why))
		}
		stories = kept
	}
	failed := 0
	for i, story := range stories {
		if ctx.Err() != nil {
			return fmt.Errorf("%d of %d played: %w", i, len(stories), ctx.Err())
		}
		play := scenario.Start(ctx, story, ground, scenario.Options{Seed: o.Seed})
		r, err := finish(p, play, followPlay)
		switch stopped := errors.Is(r.Err, scenario.ErrCancelled); {
		case !r.OK && !stopped:
			failed++
		case stopped && err == nil: // not for want of a reader
			return fmt.Errorf("%s: %w", r.Scenario, r.Err)
		}
		if errors.Is(err, syscall.EPIPE) { // what was not seen to hold is no success, as more of a listing would be
			return fmt.Errorf("%d of %d scenarios were played to the end: nobody reads standard output any more", i, len(stories))
		} else if err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d scenarios failed", failed, len(stories))
	}
	return nil
}

// finish prints a play as it goes, or at its end as JSON. The error says why no more could be
// printed: then the play was stopped. It is over in any case.
func finish(p Printer, play *scenario.Play, follow func(Printer, *scenario.Play)) (scenario.Result, error) {
	out := &audience{w: p.Out, gone: play.Stop}
	p.Out = out
	if p.Format == Table {
		follow(p, play)
	}
	r := play.Result()
	if p.Format == JSON {
		out.err = line(p.Out, r)
	}
	if out.err != nil {
		return r, fmt.Errorf("print how %s goes: %w", r.Scenario, out.err)
	}
	return r, nil
}

// audience is whoever reads of a play. Once nobody does, or nothing can be written any more,
// the play is stopped.
type audience struct {
	w    io.Writer
	gone func()
	err  error
}

func (a *audience) Write(text []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(text)
	if err != nil {
		a.err = err
		a.gone()
	}
	return n, err
}

// chosenScenarios finds scenarios by name.
func chosenScenarios(wanted []string) ([]scenario.Scenario, error) {
	if len(wanted) == 0 {
		return stories.All(), nil
	}
	var found []scenario.Scenario
	for _, name := range wanted {
		s, ok := stories.ByName(name)
		if !ok {
			return nil, Usage(fmt.Sprintf("there is no scenario %q: leasetop scenario list prints their names", name))
		}
		found = append(found, s)
	}
	return found, nil
}

// followPlay prints a play as it goes, until it is over.
func followPlay(p Printer, play *scenario.Play) {
	t := playTeller{w: p.Out}
	for {
		pic := play.Picture()
		t.tell(pic, p)
		if !pic.Ended.IsZero() {
			p.endProgress()
			t.end(pic)
			return
		}
		<-play.Changed(pic.Version)
	}
}

// playTeller prints what it has not printed yet.
type playTeller struct {
	w        io.Writer
	headed   bool
	narrated int // steps
	told     int // assertions, of the step at hand
}

func (t *playTeller) tell(pic scenario.Picture, p Printer) {
	if !t.headed {
		t.headed = true
		fmt.Fprintf(t.w, "%s · %s (seed %d)\n", safe.Text(pic.Name), safe.Text(pic.Title), pic.Seed)
	}
	for i, step := range pic.Steps {
		if i < t.narrated-1 || step.State == scenario.ToCome {
			continue
		}
		if i == t.narrated {
			t.narrated, t.told = i+1, 0
			fmt.Fprintf(t.w, "  %d  %s\n", i+1, strings.ReplaceAll(ansi.Wordwrap(safe.Text(step.Say), 76, ""), "\n", "\n     "))
		}
		for n, a := range step.Assertions {
			if n < t.told || a.State != scenario.Passed && a.State != scenario.Failed {
				continue
			}
			t.told = n + 1
			mark, text := tick(a.State), safe.Text(a.Text)
			switch {
			case a.State == scenario.Failed:
				text += ": " + safe.Text(a.Seen)
			case a.Harm:
				mark, text = "▲", text+" (harm, as told)"
			}
			fmt.Fprintf(t.w, "     %s %s  %s\n", mark, text, seconds(a.Took))
		}
		p.progress(fmt.Sprintf("     %s, step %d of %d", pic.State, pic.Step+1, len(pic.Steps)))
	}
}

// inDigits writes a figure in four digits, or more of a whole number.
func inDigits(v float64) string {
	if v >= 1000 || v <= -1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// end prints the measures and the invariants.
func (t *playTeller) end(pic scenario.Picture) {
	for _, m := range pic.Measures {
		if m.State == scenario.ToCome {
			continue
		}
		text := join(m.Name+" "+inDigits(m.Value), m.Unit)
		if bound := m.Bound.String(); bound != "" {
			text += " of " + bound
		}
		mark := tick(m.State)
		if m.Harm && m.State == scenario.Passed {
			mark = "▲"
		}
		fmt.Fprintf(t.w, "     %s %s: %s\n", mark, safe.Text(text), safe.Text(m.Text))
	}
	switch i := pic.Invariants; {
	case i.Missed:
		fmt.Fprintf(t.w, "     %s not counted: lost, double effects, overlaps of two runners\n", tick(scenario.Failed))
	case i.Known:
		whose := ""
		if i.Exempt {
			whose = "with protection: "
		}
		state := scenario.Passed
		if !i.Kept() {
			state = scenario.Failed
		}
		effects := "effects not counted"
		if i.Entered {
			effects = fmt.Sprintf("double effects %d of %d", i.Doubled, i.Effects)
		}
		fmt.Fprintf(t.w, "     %s %slost %d · %s · stale writes fenced %d · overlap of two runners %d\n", tick(state), whose, i.Lost, effects, i.Fenced, i.Overlaps)
	}
	end := fmt.Sprintf("%s in %s", pic.State, seconds(pic.Ended.Sub(pic.Began)))
	if pic.Err != "" {
		end += ": " + safe.Text(pic.Err)
	}
	fmt.Fprintf(t.w, "  %s %s\n\n", tick(pic.State), end)
}

// tick is the sign of how something ended.
func tick(s scenario.State) string {
	switch s {
	case scenario.Passed:
		return "✓"
	case scenario.Failed:
		return "✗"
	}
	return "–"
}

// join puts two words together, unless the second is empty.
func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

func seconds(d time.Duration) string { return d.Round(10 * time.Millisecond).String() }
