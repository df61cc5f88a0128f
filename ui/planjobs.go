package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// How the jobs that went wrong in a plan are looked for: page by page in the order in which
// they are redriven, up to a bounded number of the plan's jobs unless a person wants more.
const (
	planPart  = 1000   // jobs of a plan read by one question
	planLook  = 10_000 // of a plan's jobs looked at before a person is asked whether to go on
	planMost  = 500    // that went wrong, listed at once
	planAgain = 2 * time.Second
)

// planJobs are the jobs of a plan that were skipped, died again or could not be taken
// back, and why.
type planJobs struct {
	id    int64
	reach int // so many of the plan's jobs are looked at
	rows  []planJob
	list  selection[int64]

	more    bool // there may be others beyond
	looked  int
	loading bool
	asked   time.Time
	wakes   time.Time
	known   planSigns // when it was last asked
	at      time.Time // local clock: when what is listed was read
	err     error
}

// planJob is one of them.
type planJob struct {
	queue.PlanJob
	says string // why
}

// planSigns are what tells that the list is another by now.
type planSigns struct {
	skipped, died, gone, undone int64
	state                       queue.PlanState
	reach                       int
}

func (j *planJobs) signs(p *queue.Plan) planSigns {
	return planSigns{p.Skipped, p.DiedAgain, p.Gone, p.Undone, p.State, j.reach}
}

// none tells that nothing went wrong, as the plan's own counts have it.
func (s planSigns) none() bool {
	return s.skipped == 0 && s.died == 0 && s.state != queue.PlanUndoing && s.state != queue.PlanUndone
}

// planJobsMsg is an answer.
type planJobsMsg struct {
	id     int64
	rows   []planJob
	looked int
	more   bool
	at     time.Time
	err    error
}

// wake has the page looked at again.
func (j *planJobs) wake(a *app, after time.Duration) tea.Cmd {
	if a.now().Before(j.wakes) {
		return nil
	}
	j.wakes = a.now().Add(after)
	return a.after(after, wakeMsg{})
}

// Load returns the command that reads them, when the plan's counts tell of others.
func (j *planJobs) Load(a *app, p *queue.Plan) tea.Cmd {
	signs, now := j.signs(p), a.now()
	if j.loading || signs == j.known && j.err == nil {
		return nil
	}
	if signs.none() {
		j.known, j.rows, j.more = signs, nil, false
		j.list.SetKeys(nil)
		return nil
	}
	if early := planAgain - now.Sub(j.asked); early > 0 && signs.reach == j.known.reach {
		return j.wake(a, early)
	}
	j.loading, j.asked, j.known = true, now, signs
	id, reach := j.id, j.reach
	return a.io(func(ctx context.Context) tea.Msg {
		m := planJobsMsg{id: id, at: a.now()}
		m.rows, m.looked, m.more, m.err = wentWrong(ctx, a.cfg.Jobs, id, reach)
		return m
	})
}

// wentWrong looks for the jobs of a plan that went wrong.
func wentWrong(ctx context.Context, q Jobs, id int64, reach int) (rows []planJob, looked int, more bool, err error) {
	for after := int64(0); ; {
		part, err := q.PlanJobs(ctx, id, after, planPart, "redriven", "skipped")
		if err != nil {
			return nil, 0, false, err
		}
		var died []int64
		from := len(rows)
		for _, one := range part {
			looked, after = looked+1, one.ID
			if one.State == "redriven" && !one.Status.IsDeadLetter() && one.Reason == "" {
				continue
			}
			rows = append(rows, planJob{one, one.Reason})
			if one.State == "redriven" && one.Status.IsDeadLetter() {
				died = append(died, one.ID)
			}
			if len(rows) == planMost {
				break
			}
		}
		if err := tellErrors(ctx, q, rows[from:], died); err != nil {
			return nil, 0, false, err
		}
		switch {
		case len(part) < planPart && len(rows) < planMost:
			return rows, looked, false, nil
		case len(rows) == planMost || looked >= reach:
			return rows, looked, true, nil
		}
	}
}

// tellErrors adds what those that died again died of.
func tellErrors(ctx context.Context, q Jobs, rows []planJob, died []int64) error {
	if len(died) == 0 {
		return nil
	}
	jobs, err := q.ByID(ctx, died...)
	if err != nil {
		return err
	}
	errors := map[int64]string{}
	for i := range jobs {
		errors[jobs[i].ID] = jobs[i].LastError
	}
	for i := range rows {
		if text := errors[rows[i].ID]; text != "" {
			rows[i].says = text
		}
	}
	return nil
}

// Took takes an answer.
func (j *planJobs) Took(m planJobsMsg) {
	if m.id != j.id {
		return
	}
	j.loading, j.err = false, m.err
	if m.err != nil {
		return
	}
	j.rows, j.looked, j.more, j.at = m.rows, m.looked, m.more, m.at
	keys := make([]int64, len(j.rows))
	for i := range j.rows {
		keys[i] = j.rows[i].ID
	}
	j.list.SetKeys(keys)
}

// Heading says what is listed, and how far was looked.
func (j *planJobs) Heading(p *queue.Plan) heading {
	h := heading{name: "SKIPPED OR DIED AGAIN", rest: thousands(p.Skipped + p.DiedAgain)}
	if p.State == queue.PlanUndoing || p.State == queue.PlanUndone {
		h.name, h.rest = "NOT TAKEN BACK", thousands(p.Redriven+p.Skipped)
	}
	switch {
	case j.err != nil:
		h.note = "not read: " + j.err.Error()
	case j.more && len(j.rows) == planMost:
		h.note = "the first " + thousands(planMost)
	case j.more:
		h.note = fmt.Sprintf("among the first %s of the plan · m looks further", thousands(int64(j.looked)))
	case len(j.rows) > 0:
		h.note = "in the order of the plan"
	}
	return h
}

var planJobColumns = []column{
	{title: "JOB", min: 5, max: 5, right: true},
	{title: "WHAT", min: 10, max: 10},
	{title: "NOW", min: 10, max: 10, rank: 2},
	{title: "WHEN", min: 7, max: 10, rank: 1},
	{title: "WHY", min: 20, max: 400, grows: true},
}

// View draws the list in w cells.
func (j *planJobs) View(pic *picture, p *queue.Plan, w, h int) []string {
	t := pic.theme
	switch {
	case len(j.rows) > 0:
	case j.signs(p).none():
		return []string{" " + t.good.draw("✓") + t.dim.draw(" none so far")}
	case j.loading, j.known != j.signs(p):
		return []string{t.dim.draw(" reading…")}
	default:
		return []string{t.dim.draw(" none among those looked at")}
	}
	from, to := j.list.Window(max(h-1, 1))
	columns := append([]column(nil), planJobColumns...)
	columns[0].max = widest(5, 19, func(yield func(string) bool) {
		for i := from; i < to && yield(itoa(j.rows[i].ID)); i++ {
		}
	})
	columns[0].min = columns[0].max
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	for i := from; i < to; i++ {
		row := &j.rows[i]
		what, k := "– skipped", t.warn
		switch {
		case row.State == "redriven" && row.Status.IsDeadLetter():
			what, k = "✗ died", t.bad
		case row.State == "redriven":
			what, k = "● claimed", t.accent
		}
		now := string(row.Status)
		if now == "" {
			now = "gone"
		}
		lines = append(lines, t.lineOf(g.row([]cell{
			{text: itoa(row.ID), ink: t.strong},
			{text: what, ink: k},
			{text: now, ink: t.dim},
			{text: since(row.At, pic.now) + " ago", ink: t.dim},
			{text: briefly(row.says), ink: t.text},
		}), w, i == j.list.at, false))
	}
	return lines
}
