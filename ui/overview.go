package ui

import (
	tea "charm.land/bubbletea/v2"
)

// overview is the first tab: queues, leases, dead letters and events at once.
type overview struct {
	panes
	pic    *picture
	queues *queuesPane
	leases *leasesPane
	dead   *deadPane
	events *eventsPane
}

func newOverview() *overview {
	o := &overview{queues: &queuesPane{}, leases: &leasesPane{}, dead: &deadPane{}, events: &eventsPane{}}
	o.all = []pane{o.queues, o.leases, o.dead, o.events}
	o.queues.Focus(true)
	return o
}

// Show takes a new picture.
func (o *overview) Show(p *picture) {
	o.pic = p
	o.panes.Show(p)
}

// View draws the tab.
func (o *overview) View(w, h int) []string {
	t := o.pic.theme
	foot := invariants(o.pic, w)
	h -= len(foot)
	queues := len(o.pic.state.Depths.Queues)
	if w < wideWidth || h+4 < wideHeight {
		wants := []int{
			queues + 2 + len(o.queues.notes(w, 0)),
			len(o.pic.state.Leases.List) + 1,
			len(o.pic.state.Dead.Latest) + 1,
			len(o.events.rows),
		}
		return append(o.stack(t, w, h, wants), foot...)
	}
	left := w * 55 / 100
	// The queues get what they need and room for a chart, the leases a good half.
	top := min(max(queues+4+len(o.queues.notes(left-2, h))+8, h*2/5), h*3/5)
	rightTop := min(len(o.pic.state.Leases.List)+3, h*3/5)
	rightTop = max(rightTop, top)
	lines := beside(
		o.column(t, left, []int{0, 2}, []int{top, h - top}),
		o.column(t, w-left, []int{1, 3}, []int{rightTop, h - rightTop}),
	)
	return append(lines, foot...)
}

// Keys are what the focused pane's keys do.
func (o *overview) Keys(a *app) []action {
	switch o.at {
	case 0:
		d, ok := o.queues.Queue()
		return []action{jobsKey(a, d, ok), pauseKey(a, d, ok)}
	case 1:
		l, ok := o.leases.Lease()
		return []action{openKey(a, l.JobID, ok), cancelKey(a, leaseTarget(l), pick(ok, "", "no job under the cursor"))}
	case 2:
		job, ok := o.dead.Job()
		return []action{openKey(a, job.ID, ok), redriveKey(a, func() []subject { return subjects(job) }, ok)}
	case 3:
		id, ok := o.events.Job()
		return []action{openKey(a, id, ok)}
	}
	return nil
}

// openKey opens a job's detail.
func openKey(a *app, id int64, ok bool) action {
	return key("enter", "open", "open the job under the cursor: attempts, error, payload", func() tea.Cmd {
		return a.openJob(id)
	}).unless(pick(ok, "", "no job under the cursor"))
}
