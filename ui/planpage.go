package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// How often a plan is read that is executed elsewhere: while it gets on, while it waits
// for somebody, and when nothing but its jobs can still change.
const (
	planMoves = 400 * time.Millisecond
	planWaits = time.Second
	planRests = 3 * time.Second
)

// planPage is one redrive plan: what it is, how far, and what went wrong with its jobs.
type planPage struct {
	pic   *picture
	id    int64
	seen  *planSeen
	here  func() bool // it is executed in this process
	by    string      // who we are
	jobs  planJobs
	gone  bool
	asked time.Time
	busy  bool // it is being read
	count bool // what became of its jobs is being counted
}

func (a *app) newPlanPage(id int64) *planPage {
	return &planPage{
		pic: &a.pic, id: id, seen: a.plans.of(id), by: a.cfg.By,
		here: func() bool { return a.plans.runs[id] != nil },
		jobs: planJobs{id: id, reach: planLook},
	}
}

// Show takes a new picture.
func (p *planPage) Show(pic *picture) { p.pic = pic }

// Name is what the help calls it.
func (p *planPage) Name() string { return "Redrive plan" }

// Move moves the cursor in the list of jobs.
func (p *planPage) Move(m motion) { p.jobs.list.Move(m) }

// Cycle does nothing: the list is alone.
func (p *planPage) Cycle(int) {}

// plan is the plan as it is known; nil when it is not.
func (p *planPage) plan() *queue.Plan {
	if p.seen.read.IsZero() {
		return nil
	}
	plan := p.seen.plan
	return &plan
}

// every is how often the plan is read.
func (p *planPage) every() time.Duration {
	plan := p.plan()
	switch {
	case plan == nil:
		return planMoves
	case p.seen.err != nil:
		return afterError
	case planwords.Works(plan.State):
		return planMoves
	case plan.State.Ended() && plan.Pending+plan.Running == 0:
		return planRests
	}
	return planWaits
}

// Load returns the command that reads the plan, or what went wrong with its jobs.
func (p *planPage) Load(a *app) tea.Cmd {
	now := a.now()
	if p.gone || a.frozen && p.plan() != nil {
		return nil
	}
	var cmd tea.Cmd
	if !p.busy && !p.here() {
		if early := p.every() - now.Sub(p.asked); early <= 0 {
			p.busy, p.asked = true, now
			cmd = p.read(a, now)
		} else if early < time.Second { // else the next second does
			cmd = p.jobs.wake(a, early)
		}
	}
	if plan := p.plan(); plan != nil {
		return tea.Batch(cmd, p.jobs.Load(a, plan))
	}
	return cmd
}

// countShare is how much longer than a count of what became of a plan's jobs the page leaves
// it at that: a count takes some seconds of a million.
const countShare = 10

// read reads the plan, and counts what became of its jobs when that is not too dear.
func (p *planPage) read(a *app, now time.Time) tea.Cmd {
	switch due := !p.count && now.Sub(p.seen.count) >= countShare*p.seen.cost; {
	case p.plan() == nil:
		p.count = true
		return tea.Batch(a.glimpsePlan(p.id), a.readPlan(p.id))
	case due && p.seen.cost > planMoves: // what is quick is not to wait for it
		p.count = true
		return tea.Batch(a.glimpsePlan(p.id), a.readPlan(p.id))
	case due:
		p.count = true
		return a.readPlan(p.id)
	}
	return a.glimpsePlan(p.id)
}

// Took takes an answer.
func (p *planPage) Took(m planMsg) {
	if m.id == p.id {
		p.busy, p.count = false, p.count && m.brief
		p.gone = p.gone || hopeless(m.err) && p.plan() == nil
	}
}

// Keys are what the page's keys do.
func (p *planPage) Keys(a *app) []action {
	plan := p.plan()
	job, ok := p.jobs.list.Key()
	goOn, pause := a.goOnKey(plan), a.pausePlanKey(plan)
	if goOn.why != "" { // what can be done comes first
		goOn, pause = pause, goOn
	}
	keys := []action{
		a.backKey(),
		goOn,
		pause,
		a.cancelPlanKey(plan),
		a.undoPlanKey(plan),
		openKey(a, job, ok),
	}
	if p.jobs.more {
		keys = append(keys, key("m", "look further", "look for jobs that went wrong further on in the plan", func() tea.Cmd {
			p.jobs.reach += planLook
			return nil
		}))
	}
	return keys
}

// View draws the page.
func (p *planPage) View(w, h int) []string {
	t, plan := p.pic.theme, p.plan()
	frame, inner, edges := t.boxed, w-4, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w-2, 1
	}
	head := heading{name: fmt.Sprintf("PLAN %d", p.id)}
	if plan == nil {
		text := "reading…"
		if p.seen.err != nil {
			text = "not read: " + p.seen.err.Error()
		}
		lines := []string{""}
		for _, line := range wrap(text, inner) {
			lines = append(lines, " "+t.dim.draw(line))
		}
		return frame(head, lines, w, h, true)
	}
	head.rest = plural(int(plan.Total), "job")
	head.note, head.must = p.age(plan)
	lines := append(p.progress(plan, inner), p.facts(plan, inner)...)
	top := len(lines) + edges
	if most := max(h-4, edges+3); top > most {
		top = most
	}
	screen := frame(head, lines, w, top, false)
	list := p.jobs.View(p.pic, plan, w-edges+pick(edges == 1, 1, 0), max(h-top-edges, 0))
	return append(screen, frame(p.jobs.Heading(plan), list, w, h-top, true)...)
}

// age says how old the figures are.
func (p *planPage) age(plan *queue.Plan) (note, must string) {
	old := p.pic.local.Sub(p.seen.read)
	if old > p.every()+staleAfter {
		return "stale: " + age(old) + " old", "stale"
	}
	note = "read " + age(old) + " ago"
	if p.seen.count.IsZero() {
		return note + ", outcomes are being counted", ""
	}
	if counted := p.pic.local.Sub(p.seen.count); counted-old >= 2*time.Second && plan.Redriven > 0 {
		note += ", outcomes as of " + age(counted) + " ago"
	}
	return note, ""
}

// progress is where the plan stands, and its bar.
func (p *planPage) progress(plan *queue.Plan, w int) []string {
	t := p.pic.theme
	tone, word := planTone(plan.State)
	pace := ""
	if plan.State == queue.PlanRunning {
		if speed, ok := p.seen.speed.PerSecond(); ok {
			pace = rate(speed) + " a second now"
		}
		if left, ok := p.seen.speed.Left(*plan); ok {
			pace = join(pace+pick(pace == "", "", " ·"), planwords.About(left)+" left")
		}
	}
	says := strings.TrimSpace(strings.TrimPrefix(planwords.Stands(*plan), word))
	if n := plan.Pending + plan.Running; plan.State == queue.PlanDone && n > 0 {
		says = "all are redriven, " + thousands(n) + " of them have yet to end"
	}
	if plan.State == queue.PlanDone && plan.DiedAgain > 0 { // done is not well done
		tone = caution
		says = join(thousands(plan.DiedAgain)+" of "+thousands(plan.Redriven)+" died again", pick(says == "", "", "· "+says))
	}
	lines := []string{" " + spread([]part{{t.chip(tone, word), 0}, {t.text.draw(safe.Text(says)), 0}}, []part{{t.strong.draw(pace), 1}}, w)}
	if p.seen.err != nil {
		for _, line := range wrap("not reached, tried again every "+age(afterError)+": "+p.seen.err.Error(), w-4)[:1] {
			lines = append(lines, "  "+t.bad.draw("✗ "+line))
		}
	}
	lines = append(lines, "", "  "+planBar(t, plan, w-2), "")
	return append(lines, planLegend(t, plan, w)...)
}

// facts are who wanted what, how and why.
func (p *planPage) facts(plan *queue.Plan, w int) []string {
	t, now := p.pic.theme, p.pic.now
	what := masked(plan.Filter)
	if what == "" {
		what = plural(int(plan.Total), "job") + " named one by one"
	}
	facts := []fact{
		{"what", what, t.accent},
		{"started", "by " + plan.By + " · " + momentAgo(plan.CreatedAt, now), t.text},
		{"how", planwords.How(*plan), t.text},
	}
	if plan.Reason != "" {
		facts = append(facts, fact{"reason", masked(plan.Reason), t.text})
	}
	facts = append(facts, p.executor(plan))
	lines := []string{""}
	for _, f := range facts {
		if f.text != "" {
			lines = append(lines, "  "+t.dim.draw(safe.Fit(f.name, 10))+f.ink.draw(brief(f.text, max(w-12, 1))))
		}
	}
	return lines
}

// executor says who executes the plan, and whether it is there.
func (p *planPage) executor(plan *queue.Plan) fact {
	t := p.pic.theme
	switch {
	case !planwords.Works(plan.State):
		ended := plan.ChangedAt
		if plan.EndedAt != nil {
			ended = *plan.EndedAt
		}
		return fact{"since", momentAgo(ended, p.pic.now), t.text}
	case p.here():
		return fact{"executed", "by this dashboard", t.good}
	case plan.Executor == "":
		return fact{"executed", "! by nobody: c takes it over", t.alarm}
	case plan.Alone > 0:
		return fact{"executed", "! by nobody: c takes it over · " + plan.Executor + ", who did, is silent for " + age(plan.Alone) + " beyond its lease", t.alarm}
	}
	return fact{"executed", "by " + plan.Executor, t.good}
}

// planTone is how a state is drawn: a colour, and a word.
func planTone(s queue.PlanState) (tone, string) {
	switch s {
	case queue.PlanRunning:
		return okay, "running"
	case queue.PlanCanary:
		return okay, "canary"
	case queue.PlanHeld:
		return caution, "waits for you"
	case queue.PlanPaused:
		return caution, "paused"
	case queue.PlanStopped:
		return danger, "stopped"
	case queue.PlanUndoing:
		return caution, "undoing"
	}
	return quiet, string(s)
}
