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

// How the operator log is read: a page from its newest entry, the next when the cursor
// comes near the end, and what is loaded again after a while.
const (
	actsPage  = 100
	actsMost  = 2000
	actsAgain = 3 * time.Second
)

// logPage is the operator log: who did what to which jobs, newest first.
type logPage struct {
	newest[queue.Act]
	pic *picture
}

// actsMsg is an answer to it.
type actsMsg = newestMsg[queue.Act]

func newLogPage(a *app) *logPage {
	return &logPage{pic: &a.pic, newest: newest[queue.Act]{
		page: actsPage, most: actsMost, again: actsAgain,
		id: func(one *queue.Act) int64 { return one.ID }, fetch: a.cfg.Jobs.Acts,
	}}
}

// logKey opens the operator log.
func (a *app) logKey() action {
	_, open := a.page().(*logPage)
	return key("L", "", "the operator log: who did what to which jobs, and what came of it", func() tea.Cmd {
		a.openOver(newLogPage(a))
		return nil
	}).unless(pick(open, "it is open", ""))
}

// Show takes a new picture.
func (l *logPage) Show(p *picture) { l.pic = p }

// Name is what the help calls it.
func (l *logPage) Name() string { return "Operator log" }

// Keys are what the log's keys do.
func (l *logPage) Keys(a *app) []action {
	act, ok := l.Row()
	why, label := "no entry under the cursor", "open"
	if ok {
		switch {
		case act.Plan != 0:
			why, label = "", "plan"
		case len(act.IDs) == 1 && act.Asked <= 1:
			why, label = "", "job"
		case len(act.IDs) > 0:
			why, label = "", "jobs"
		default:
			why = "it is about no single job, and no plan"
		}
	}
	open := key("enter", label, "open the plan or the job that the entry under the cursor is about", func() tea.Cmd {
		switch {
		case act.Plan != 0:
			a.openOver(a.newPlanPage(act.Plan))
		case len(act.IDs) == 1:
			return a.openJob(act.IDs[0])
		default:
			d := &jobsOfAct{act: *act}
			d.list.SetKeys(act.IDs)
			a.dialogs.Push(d, a.now())
		}
		return nil
	})
	return []action{a.backKey(), open.unless(why), a.undoActKey(act)}
}

var actColumns = []column{
	{title: "WHEN", min: 9, max: 20, right: true},
	{title: "WHO", min: 10, max: 24},
	{title: "WHAT", min: 8, max: 12},
	{title: "DONE", min: 4, max: 9, right: true},
	{title: "OF", min: 4, max: 9, right: true, rank: 2},
	{title: "SKIPPED", min: 7, max: 9, right: true, rank: 3},
	{title: "ROLE", min: 6, max: 14, rank: 4},
	{title: "OF WHICH, AND WHY", min: 16, max: 400, grows: true},
}

// View draws the log: the list, and all of the entry under the cursor below it.
func (l *logPage) View(w, h int) []string {
	t := l.pic.theme
	frame, inner, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, inner, edges = t.ruled, w, 1
	}
	head := heading{name: "OPERATOR LOG", note: "newest first"}
	if l.read {
		head.rest = thousands(int64(len(l.all))) + pick(l.end, "", "+")
		head.note = "read " + age(l.pic.local.Sub(l.at)) + " ago, newest first"
	}
	if l.err != nil {
		head.note, head.must = "not read: "+l.err.Error(), "not read"
	}
	var below []string
	if act, ok := l.Row(); ok {
		body := l.whole(act, inner-2)
		body = body[:min(len(body), h/2-edges)]
		below = frame(heading{name: fmt.Sprintf("ENTRY %d", act.ID), rest: act.What}, body, w, len(body)+edges, false)
	}
	top := frame(head, l.rows(inner, h-len(below)-edges), w, h-len(below), true)
	return append(top, below...)
}

func (l *logPage) rows(w, h int) []string {
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
		return []string{"", t.dim.draw(" nobody has done anything to a job or a queue yet")}
	}
	from, to := l.list.Window(max(h-1, 1))
	columns := append([]column(nil), actColumns...)
	columns[1].max = widest(10, 24, func(yield func(string) bool) {
		for i := from; i < to && yield(l.all[i].By); i++ {
		}
	})
	for i, text := range map[int]func(*queue.Act) string{
		0: func(act *queue.Act) string { return moment(act.At, l.pic.now) },
		2: func(act *queue.Act) string { return act.What },
		3: func(act *queue.Act) string { return thousands(act.Done) },
		4: func(act *queue.Act) string { return thousands(act.Asked) },
		5: func(act *queue.Act) string { return thousands(act.Skips) },
		6: func(act *queue.Act) string { return act.Role },
	} {
		columns[i].max = widest(columns[i].min, columns[i].max, func(yield func(string) bool) {
			for k := from; k < to && yield(text(&l.all[k])); k++ {
			}
		})
	}
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	for i := from; i < to; i++ {
		lines = append(lines, t.lineOf(g.row(l.cells(&l.all[i])), w, i == l.list.at, false))
	}
	return lines
}

func (l *logPage) cells(act *queue.Act) []cell {
	t := l.pic.theme
	number := func(n int64) cell { return cell{text: thousands(n), ink: pick(n == 0, t.faint, t.text)} }
	done, why := number(act.Done), cell{text: about(act), ink: t.text}
	switch {
	case act.Ended == nil:
		done = cell{text: "…", ink: t.warn}
		why = cell{text: "! " + pick(act.PlanState == "", "not ended", planwords.UnderWay(*act)) + " · " + about(act), ink: t.warn}
	case act.Error != "":
		why = cell{text: "✗ " + masked(act.Error) + " · " + about(act), ink: t.bad}
	case act.Note != "":
		why.text = act.Note + " · " + why.text
	}
	return []cell{
		{text: moment(act.At, l.pic.now), ink: t.dim},
		{text: act.By, ink: t.text},
		{text: act.What, ink: pick(act.What == "reveal", t.warn, t.strong)},
		done, number(act.Asked), number(act.Skips),
		{text: act.Role, ink: t.dim},
		why,
	}
}

// about says in short what an act was about, and why it was done.
func about(act *queue.Act) string {
	var parts []string
	if act.Plan != 0 {
		parts = append(parts, "plan "+itoa(act.Plan))
	}
	switch n := len(act.IDs); {
	case n == 1:
		parts = append(parts, "job "+itoa(act.IDs[0]))
	case n > 1 && act.Filter == "":
		parts = append(parts, "jobs "+idsInShort(act.IDs, act.Asked, 4))
	}
	if act.Filter != "" {
		parts = append(parts, masked(act.Filter))
	}
	if act.Reason != "" {
		parts = append(parts, masked(act.Reason))
	}
	return strings.Join(parts, " · ")
}

// idsInShort lists the first ids, and how many more there are.
func idsInShort(ids []int64, asked int64, most int) string {
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, itoa(id))
	}
	text := strings.Join(names, ", ")
	if more := max(asked, int64(len(ids))) - int64(len(names)); more > 0 {
		text += " and " + thousands(more) + " more"
	}
	return text
}

// whole tells all of an entry.
func (l *logPage) whole(act *queue.Act, w int) (lines []string) {
	t := l.pic.theme
	const nameW = len("database role")
	say := func(name string, k ink, text string) {
		if text == "" {
			return
		}
		for i, line := range wrap(text, w-nameW-2) {
			lines = append(lines, " "+t.dim.draw(safe.Fit(pick(i == 0, name, ""), nameW))+"  "+k.draw(line))
		}
	}
	now := l.pic.now
	when := momentAgo(act.At, now)
	if act.Ended != nil {
		if took := act.Ended.Sub(act.At); took > 0 {
			when += ", took " + short(took)
		}
	}
	say("who", t.text, act.By+pick(act.Role == "", "", " as "+act.Role))
	say("when", t.text, when)
	came := thousands(act.Done) + " of " + thousands(act.Asked) + " done"
	if act.Asked == 0 && act.Done == 0 {
		came = "done"
	}
	if act.Note != "" {
		came += ", " + act.Note
	}
	if act.Skips > 0 {
		came += ", " + thousands(act.Skips) + " skipped"
	}
	switch {
	case act.Ended == nil && act.PlanState != "":
		say("result", t.warn, "! "+planwords.UnderWay(*act))
	case act.Ended == nil:
		say("result", t.warn, "! not ended: it is under way, or whoever did it is gone in the middle of it")
	default:
		say("result", t.text, came)
	}
	say("error", t.bad, masked(act.Error))
	if act.Plan != 0 {
		say("plan", t.text, itoa(act.Plan))
	}
	say("filter", t.accent, masked(act.Filter))
	say("reason", t.text, masked(act.Reason))
	if len(act.IDs) > 0 {
		say("jobs", t.text, idsInShort(act.IDs, act.Asked, len(act.IDs)))
	}
	return lines
}

// jobsOfAct lists the jobs of an entry, to open one.
type jobsOfAct struct {
	act  queue.Act
	list selection[int64]
}

// Heading is the dialog's title.
func (d *jobsOfAct) Heading() heading {
	return heading{name: fmt.Sprintf("JOBS OF ENTRY %d", d.act.ID), rest: d.act.What}
}

// Grave is not set.
func (d *jobsOfAct) Grave() bool { return false }

// Move moves the cursor.
func (d *jobsOfAct) Move(m motion) { d.list.Move(m) }

// Keys open a job.
func (d *jobsOfAct) Keys(a *app) []action {
	id, ok := d.list.Key()
	return []action{key("enter", "open", "", func() tea.Cmd {
		a.dialogs.Pop()
		return a.openJob(id)
	}).unless(pick(ok, "", "no job under the cursor"))}
}

// Lines draws the list.
func (d *jobsOfAct) Lines(t *theme, w, h int, _ bool) []string {
	more := ""
	if n := d.act.Asked - int64(len(d.act.IDs)); n > 0 {
		more = thousands(n) + " more are not named in the log · "
	}
	lines := []string{""}
	from, to := d.list.Window(max(h-4, 1))
	for i := from; i < to; i++ {
		lines = append(lines, t.lineOf(t.strong.draw(itoa(d.act.IDs[i])), w, i == d.list.at, false))
	}
	lines = append(lines, "", t.dim.draw(safe.Fit(more+"enter opens · esc leaves", w)), "")
	return lines[:min(len(lines), max(h, 0))]
}
