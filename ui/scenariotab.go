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

// scenarioTab lists the scenarios, and tells of the one under the cursor what it shows.
type scenarioTab struct {
	pic   *picture
	plays *playsHere
	list  selection[string]
	none  bool // none can be played by this dashboard
}

func newScenarioTab(a *app) *scenarioTab {
	s := &scenarioTab{plays: &a.plays, none: a.cfg.Scenarios == nil}
	if !s.none {
		a.plays.stories = a.cfg.Scenarios.List()
	}
	names := make([]string, len(a.plays.stories))
	for i := range a.plays.stories {
		names[i] = a.plays.stories[i].Name
	}
	s.list.SetKeys(names)
	return s
}

// Show takes a new picture.
func (s *scenarioTab) Show(p *picture) { s.pic = p }

// Move moves the cursor.
func (s *scenarioTab) Move(m motion) { s.list.Move(m) }

// Cycle does nothing: the list is what is moved in.
func (s *scenarioTab) Cycle(int) {}

// Load asks what may be done to this database, until that is known.
func (s *scenarioTab) Load(a *app) tea.Cmd { return a.askGround() }

// story is the one under the cursor; nil when there is none.
func (s *scenarioTab) story() *scenario.Scenario {
	if s.list.at < len(s.plays.stories) {
		return &s.plays.stories[s.list.at]
	}
	return nil
}

// barred says why a scenario cannot be played here, and what to do; "" when it can.
func (s *scenarioTab) barred(story *scenario.Scenario) string {
	g := s.plays.ground
	switch {
	case g.known && (g.ours || g.open && story.Needs == scenario.Queue):
		return ""
	case g.known:
		return "it needs " + needs(story.Needs) + ": " + g.why
	case g.err != nil:
		return "it is not known whether this database is for demonstrations: " + g.err.Error()
	}
	return "finding out whether this database is for demonstrations…"
}

// needs says in words what a scenario needs.
func needs(n scenario.Needs) string {
	switch n {
	case scenario.Queue:
		return "a queue of its own"
	case scenario.Schema:
		return "a schema of its own"
	}
	return "a server of its own"
}

// Keys are what the list's keys do.
func (s *scenarioTab) Keys(a *app) []action {
	live, story := s.plays.live(), s.story()
	if s.none || story == nil {
		return nil
	}
	open := func() tea.Cmd {
		a.openOver(&stagePage{pic: &a.pic, of: s.plays.now})
		return nil
	}
	if live != nil && live.latest.Name == story.Name {
		return []action{key("enter", "open", "the play that goes on", open), a.stopKey()}
	}
	why := a.readOnly()
	switch {
	case why != "":
	case live != nil:
		why = s.occupied()
	case s.plays.begins:
		why = "one is being begun"
	default:
		why = s.barred(story)
	}
	play := key("enter", "play", "play the scenario under the cursor: it breaks something on purpose, and you go from step to step", func() tea.Cmd {
		if !s.plays.ground.ours {
			a.ask(s.question(a, story.Name))
			return nil
		}
		return a.begin(story.Name, 0)
	}).unless(why)
	if live != nil {
		opens, stops := key("o", safe.Text("open "+live.latest.Name), "open the page of the play that goes on", open), a.stopKey()
		stops.label += " it"
		return []action{play, opens, stops}
	}
	last := key("o", "", "open the page of the last play again", open).unless(pick(s.plays.now == nil, "nothing was played yet", ""))
	return []action{play, last}
}

// occupied says which play goes on, and what to do to play another; "" when none does.
func (s *scenarioTab) occupied() string {
	live := s.plays.live()
	if live == nil {
		return ""
	}
	name := live.latest.Name
	if live.latest.State == scenario.CleaningUp {
		return name + " is ending: one play at a time"
	}
	return name + " goes on: o opens it, S stops it"
}

// stopKey stops the play that goes on.
func (a *app) stopKey() action {
	p := a.plays.live()
	why := ""
	if p == nil {
		why = "nothing is being played"
	} else if p.latest.State == scenario.CleaningUp {
		why = "it is ending"
	}
	return key("S", "stop", "stop the play: its workers are ended, its jobs removed", func() tea.Cmd {
		p.play.Stop()
		return nil
	}).unless(why)
}

// question asks whether to play on a database that is somebody's.
func (s *scenarioTab) question(a *app, name string) *confirm {
	t := a.pic.theme
	server := a.pic.state.Server
	fact := func(name, text string) string { return t.dim.draw(safe.Fit(name, 10)) + t.strong.draw(safe.Text(text)) }
	return &confirm{
		title: "PLAY " + strings.ToUpper(name) + " ON A DATABASE THAT IS NOT FOR DEMONSTRATIONS",
		subject: func() []string {
			return []string{
				fact("database", server.Database+" at "+server.Host+", schema "+server.Schema),
				fact("queue", name+"-…, made for this play alone"),
				fact("left", scenario.Left),
			}
		},
		says: scenario.OnSomebodysOwn + " " + upper(s.plays.ground.why) + ".",
		yes:  "play it here", no: "leave it",
		do: func() tea.Cmd { return a.begin(name, 0) },
	}
}

// upper begins a text with a capital letter.
func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

var scenarioColumns = []column{
	{title: "", min: 2, right: true},
	{title: "SCENARIO", min: 8},
	{title: "WHAT HAPPENS", min: 20, max: 60, grows: true},
	{title: "NEEDS", min: 6, rank: 1},
	{title: "WITHOUT PAUSES", min: 14, right: true, rank: 2},
	{title: "HERE", min: 10},
}

// herePaused names the last column where the one before it has room too: an audience
// reads, so that what was played here took longer.
const herePaused = "HERE, WITH PAUSES"

// View draws the tab: the list, and below it what the one under the cursor shows.
func (s *scenarioTab) View(w, h int) []string {
	t := s.pic.theme
	frame, inner, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w, 1
	}
	if s.none {
		return frame(heading{name: "SCENARIOS"}, []string{"", t.dim.draw(" No scenario can be played from this dashboard.")}, w, h, true)
	}
	var below []string
	if story := s.story(); story != nil {
		body := s.about(story, inner-2)
		body = body[:max(min(len(body), h/2-edges), 0)]
		below = frame(heading{name: strings.ToUpper(story.Name)}, body, w, len(body)+edges, false)
	}
	head := heading{name: "SCENARIOS", rest: fmt.Sprint(len(s.plays.stories)), note: "each breaks something on purpose, and shows that the queue keeps its promises", must: "what is broken, and holds"}
	top := frame(head, s.rows(inner, h-len(below)-edges), w, h-len(below), true)
	return append(top, below...)
}

func (s *scenarioTab) rows(w, h int) []string {
	t := s.pic.theme
	stories := s.plays.stories
	columns := append([]column(nil), scenarioColumns...)
	columns[1].min = widest(8, 24, func(yield func(string) bool) {
		for i := 0; i < len(stories) && yield(stories[i].Name); i++ {
		}
	})
	if here := &columns[len(columns)-1]; w >= wideWidth-2 {
		here.title, here.min = herePaused, safe.Width(herePaused)
	} else { // beside each other without their words, two times would be taken for one
		columns[len(columns)-2].out = true
	}
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	from, to := s.list.Window(max(h-1, 1))
	for i := from; i < to; i++ {
		lines = append(lines, t.lineOf(g.row(s.cells(i)), w, i == s.list.at, false))
	}
	return lines
}

func (s *scenarioTab) cells(i int) []cell {
	t, story := s.pic.theme, &s.plays.stories[i]
	name, title := t.strong, t.text
	here := cell{text: "–", ink: t.faint}
	if was, ok := s.plays.ended[story.Name]; ok {
		here = cell{text: "stopped", ink: t.dim}
		switch was.state {
		case scenario.Passed:
			here = cell{text: "✓ " + short(was.took), ink: t.good}
		case scenario.Failed:
			here = cell{text: "✗ failed", ink: t.alarm}
		}
	}
	if live := s.plays.live(); live != nil && live.pic.Name == story.Name {
		here = cell{text: fmt.Sprintf("▶ step %d/%d", live.pic.Step+1, len(live.pic.Steps)), ink: t.lead}
	} else if s.plays.ground.known && s.barred(story) != "" {
		name, title = t.faint, t.faint
		here = cell{text: "not here", ink: t.faint}
	}
	return []cell{
		{text: fmt.Sprint(i + 1), ink: t.dim},
		{text: story.Name, ink: name},
		{text: story.Title, ink: title},
		{text: string(story.Needs), ink: t.dim},
		{text: "~" + age(story.Lasts.Round(time.Second)), ink: t.dim},
		here,
	}
}

// about tells of a scenario.
func (s *scenarioTab) about(story *scenario.Scenario, w int) (lines []string) {
	t := s.pic.theme
	for _, line := range wrap(story.Shows, w) {
		lines = append(lines, " "+t.text.draw(line))
	}
	facts := plural(len(story.Steps), "step") + ", about " + age(story.Lasts.Round(time.Second)) + " without pauses · " + needs(story.Needs) + pick(story.Needs == scenario.Server, "", ": nothing of it is left")
	for _, m := range story.Measures {
		if bound := m.Bound.String(); bound != "" {
			facts += " · " + cmp.Or(m.Text, m.Name) + ": " + join(bound, m.Unit)
		}
	}
	lines = append(lines, "")
	for _, line := range wrap(facts, w) {
		lines = append(lines, " "+t.dim.draw(line))
	}
	why := s.barred(story)
	if live := s.plays.live(); live != nil && live.latest.Name != story.Name {
		why = cmp.Or(why, s.occupied())
	}
	if why != "" {
		lines = append(lines, "")
		for i, line := range wrap(why, w-2) {
			lines = append(lines, " "+t.warn.draw(pick(i == 0, "! ", "  ")+line))
		}
	}
	return lines
}
