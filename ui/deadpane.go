package ui

import (
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// deadPane shows the newest dead letters on the overview.
type deadPane struct {
	pic  *picture
	list selection[int64]
	lit  bool
}

// Show takes a new picture.
func (d *deadPane) Show(p *picture) {
	d.pic = p
	d.list.SetKeys(ids(p.state.Dead.Latest))
	if !d.lit {
		d.list.Rest()
	}
}

// Move moves the cursor.
func (d *deadPane) Move(m motion) { d.list.Move(m) }

// Focus gives or takes the focus.
func (d *deadPane) Focus(on bool) { d.lit = on }

// Job returns the dead letter under the cursor.
func (d *deadPane) Job() (queue.Job, bool) {
	if d.list.at < len(d.pic.state.Dead.Latest) {
		return d.pic.state.Dead.Latest[d.list.at], true
	}
	return queue.Job{}, false
}

// Heading says how many dead letters there are.
func (d *deadPane) Heading() heading {
	h, in := heading{name: "DEAD LETTERS"}, d.pic.state.Dead
	if in.Source == watch.Unknown {
		return h
	}
	h.rest, h.note = bounded(in.Total, in.Capped, 9), "newest first"
	return d.pic.provenance(h, in.Source, d.pic.deadKnown())
}

// View draws the pane's inside.
func (d *deadPane) View(w, h int) []string {
	t, in := d.pic.theme, d.pic.state.Dead
	switch {
	case in.Source == watch.Unknown:
		return []string{"", t.dim.draw(" looking…")}
	case len(in.Latest) == 0:
		return []string{"", " " + t.good.draw("✓") + t.dim.draw(" no dead letters")}
	}
	g := deadGrid(in.Latest, w-2)
	lines := []string{" " + g.header(t.dim)}
	_, stale := d.pic.stale(d.pic.deadKnown())
	from, to := d.list.Window(max(h-1, 1))
	if !d.lit {
		from, to = 0, min(max(h-1, 0), len(in.Latest))
	}
	for i := from; i < to; i++ {
		row := g.row(deadCells(t, &in.Latest[i], g.columns[2].max, d.pic.now))
		line := t.lineOf(row, w, d.lit && i == d.list.at, false)
		if stale {
			line = t.dim.fade(line)
		}
		lines = append(lines, line)
	}
	return lines
}

var deadColumns = []column{
	{title: "DIED", min: 6, right: true},
	{title: "JOB", min: 5, max: 5, right: true},
	{title: "KIND", min: 8, max: 8, rank: 1},
	{title: "STATUS", min: 6, max: 6, rank: 3},
	{title: "ATT", min: 3, right: true, rank: 2},
	{title: "ERROR", min: 30, max: 400, grows: true},
}

// deadGrid fits the columns of a list of dead letters; the overview and the tab
// show the same.
func deadGrid(jobs []queue.Job, w int) grid {
	columns := append([]column(nil), deadColumns...)
	each := func(text func(*queue.Job) string) func(func(string) bool) {
		return func(yield func(string) bool) {
			for i := range jobs {
				if !yield(text(&jobs[i])) {
					return
				}
			}
		}
	}
	columns[1].max = widest(5, 10, each(func(j *queue.Job) string { return strconv.FormatInt(j.ID, 10) }))
	columns[1].min = columns[1].max
	columns[2].max = widest(8, max(min(24, w/4), 8), each(func(j *queue.Job) string { return kindOf(j.Queue, j.Kind) }))
	return arrange(columns, w)
}

func deadCells(t *theme, j *queue.Job, full int, now time.Time) []cell {
	status := t.warn
	if j.Status == queue.Dead {
		status = t.bad
	}
	return []cell{
		{text: since(j.DiedAt, now), ink: t.dim},
		{text: strconv.FormatInt(j.ID, 10), ink: t.strong},
		t.kindCell(j.Queue, j.Kind, full),
		{text: string(j.Status), ink: status},
		{text: tries(j.Attempts, j.MaxAttempts), ink: t.dim},
		{text: briefly(j.LastError), ink: t.text},
	}
}

func ids(jobs []queue.Job) []int64 {
	out := make([]int64, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}
