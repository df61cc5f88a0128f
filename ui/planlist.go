package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
)

// How the list of plans is read: a page from the newest, the next when the cursor comes
// near the end, and all that is loaded again after a while.
const (
	plansPage  = 50
	plansMost  = 1000
	plansAgain = 2 * time.Second
)

// planList is the list of redrive plans, newest first.
type planList struct {
	newest[queue.Plan]
	pic *picture
}

// plansMsg is an answer to it.
type plansMsg = newestMsg[queue.Plan]

func newPlanList(a *app) *planList {
	return &planList{pic: &a.pic, newest: newest[queue.Plan]{
		page: plansPage, most: plansMost, again: plansAgain,
		id: func(one *queue.Plan) int64 { return one.ID }, fetch: a.cfg.Jobs.Plans,
	}}
}

// plansKey opens the list of plans.
func (a *app) plansKey() action {
	_, open := a.page().(*planList)
	return key("l", "", "the redrive plans: how far each is, and what came of it", func() tea.Cmd {
		a.openOver(newPlanList(a))
		return nil
	}).unless(pick(open, "it is open", ""))
}

// Show takes a new picture.
func (l *planList) Show(p *picture) { l.pic = p }

// Name is what the help calls it.
func (l *planList) Name() string { return "Redrive plans" }

// Keys are what the list's keys do.
func (l *planList) Keys(a *app) []action {
	id, ok := l.list.Key()
	return []action{
		a.backKey(),
		key("enter", "open", "open the plan under the cursor: how far it is, pause, undo", func() tea.Cmd {
			a.openOver(a.newPlanPage(id))
			return nil
		}).unless(pick(ok, "", "no plan under the cursor")),
	}
}

var planColumns = []column{
	{title: "PLAN", min: 5, max: 8, right: true},
	{title: "STATE", min: 9, max: 13},
	{title: "STARTED", min: 7, max: 7, right: true, rank: 3},
	{title: "BY", min: 8, max: 20, rank: 4},
	{title: "JOBS", min: 6, max: 9, right: true},
	{title: "REDRIVEN", min: 8, max: 9, right: true},
	{title: "SKIPPED", min: 7, max: 9, right: true, rank: 1},
	{title: "TAKEN BACK", min: 10, max: 10, right: true, rank: 5},
	{title: "FILTER OR REASON", min: 16, max: 400, grows: true},
}

// View draws the list.
func (l *planList) View(w, h int) []string {
	t := l.pic.theme
	frame, inner, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w, 1
	}
	head := heading{name: "REDRIVE PLANS", note: "newest first"}
	if l.read {
		head.rest = thousands(int64(len(l.all))) + pick(l.end, "", "+")
		head.note, head.must = "read "+age(l.pic.local.Sub(l.at))+" ago, newest first", ""
	}
	if l.err != nil {
		head.note, head.must = "not read: "+l.err.Error(), "not read"
	}
	return frame(head, l.rows(inner, h-edges), w, h, true)
}

func (l *planList) rows(w, h int) []string {
	t := l.pic.theme
	switch {
	case !l.read && l.err != nil:
		lines := []string{"", " " + t.bad.draw("✗") + " not read:"}
		for _, line := range wrap(l.err.Error(), w-3) {
			lines = append(lines, "   "+line)
		}
		return lines
	case !l.read:
		return []string{"", t.dim.draw(" reading…")}
	case len(l.all) == 0:
		return []string{"", t.dim.draw(" no plans yet: R on the dead letters makes one, and so does r")}
	}
	from, to := l.list.Window(max(h-1, 1))
	columns := append([]column(nil), planColumns...)
	columns[3].max = widest(8, 24, func(yield func(string) bool) {
		for i := from; i < to && yield(l.all[i].By); i++ {
		}
	})
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	for i := from; i < to; i++ {
		lines = append(lines, t.lineOf(g.row(l.cells(&l.all[i])), w, i == l.list.at, false))
	}
	return lines
}

func (l *planList) cells(p *queue.Plan) []cell {
	t := l.pic.theme
	kind, word := planTone(p.State)
	k := map[tone]ink{okay: t.good, caution: t.warn, danger: t.bad, quiet: t.dim}[kind]
	if planwords.Works(p.State) && (p.Executor == "" || p.Alone > 0) {
		word, k = "! alone", t.alarm
	}
	about := masked(join(p.Filter, pick(p.Filter != "" && p.Reason != "", "· ", "")+p.Reason))
	number := func(n int64) cell {
		return cell{text: thousands(n), ink: pick(n == 0, t.faint, t.text)}
	}
	return []cell{
		{text: itoa(p.ID), ink: t.strong},
		{text: word, ink: k},
		{text: age(l.pic.now.Sub(p.CreatedAt)), ink: t.dim},
		{text: p.By, ink: t.dim},
		number(p.Total), number(p.Redriven), number(p.Skipped), number(p.Undone),
		{text: about, ink: t.text},
	}
}
