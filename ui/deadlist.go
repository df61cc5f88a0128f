package ui

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// deadList is the list of the dead letters that pass a filter, newest death first. It
// holds a stretch without gaps that begins with the newest, read as far as somebody
// scrolls: see deadread.go for the questions.
type deadList struct {
	pic  *picture
	rows []deadRow
	list selection[int64]
	deadReading
}

// deadRow is a dead letter as it was read.
type deadRow struct {
	queue.Job
	changes int // that were known of when it was asked for
}

// place is where a dead letter stands in the list.
type place struct {
	died time.Time
	id   int64
}

func placeOf(j *queue.Job) place {
	if j.DiedAt == nil {
		return place{id: j.ID}
	}
	return place{*j.DiedAt, j.ID}
}

// above tells whether a place is nearer to the newest than another.
func (p place) above(q place) bool {
	if !p.died.Equal(q.died) {
		return p.died.After(q.died)
	}
	return p.id > q.id
}

// cursorPlace is the place that a cursor names; that of none lies at an end.
func cursorPlace(c *queue.Cursor, none place) place {
	switch {
	case c == nil:
		return none
	case c.DiedAt == nil:
		return place{id: c.ID}
	}
	return place{*c.DiedAt, c.ID}
}

// The ends of every list of dead letters.
var (
	newestPlace = place{time.Unix(math.MaxInt32*1000, 0), math.MaxInt64}
	oldestPlace = place{time.Unix(math.MinInt32*1000, 0), math.MinInt64}
)

// Job returns the dead letter under the cursor.
func (d *deadList) Job() (*queue.Job, bool) {
	if d.list.at < len(d.rows) {
		return &d.rows[d.list.at].Job, true
	}
	return nil, false
}

// Move moves the cursor. The end is the end of all dead letters: what is not loaded yet
// is fetched, as far as the list goes.
func (d *deadList) Move(m motion) {
	d.list.Move(m)
	if d.list.height > 0 { // it was drawn: the window is where the next frame has it
		d.list.Window(d.list.height)
	}
	d.end = m == toBottom && d.below.lacks() && len(d.rows) < deadMost
}

// splice puts jobs in the place of all rows between two places. A job that stands
// elsewhere in the list stood there before it died again.
func (d *deadList) splice(above, below place, jobs []queue.Job, changes int) {
	fresh := make([]deadRow, len(jobs))
	here := make(map[int64]bool, len(jobs))
	for i := range jobs {
		fresh[i] = deadRow{jobs[i], changes}
		here[jobs[i].ID] = true
	}
	old := func(rows []deadRow) []deadRow {
		return slices.DeleteFunc(slices.Clone(rows), func(r deadRow) bool { return here[r.ID] })
	}
	from := sort.Search(len(d.rows), func(i int) bool { return above.above(placeOf(&d.rows[i].Job)) })
	to := sort.Search(len(d.rows), func(i int) bool { return below.above(placeOf(&d.rows[i].Job)) })
	d.rows = slices.Concat(old(d.rows[:from]), fresh, old(d.rows[max(from, to):]))
	d.settle()
}

// settle has the cursor stay on its job.
func (d *deadList) settle() {
	if over := len(d.rows) - deadMost; over > 0 {
		d.rows = d.rows[:deadMost]
		last := placeOf(&d.rows[deadMost-1].Job)
		d.below = edge{next: &queue.Cursor{ID: last.id, DiedAt: &last.died}}
	}
	keys := make([]int64, len(d.rows))
	for i := range d.rows {
		keys[i] = d.rows[i].ID
	}
	d.list.Settle(keys)
}

// sight is the rows that were drawn last.
func (d *deadList) sight() []deadRow {
	from := min(d.list.top, len(d.rows))
	return d.rows[from:min(from+d.list.height, len(d.rows))]
}

// stopped tells that enough was looked at beyond the last row for the moment.
func (d *deadList) stopped() bool { return d.read && d.nearEnd() && d.below.stopped() }

func (d *deadList) nearEnd() bool { return d.list.at+d.list.height+deadPage/4 > len(d.rows) }

// deadMsg is an answer.
type deadMsg struct {
	deadQuestion
	found queue.DeadFound
	took  time.Duration
	err   error
}

// Load returns the command that reads what the list lacks; nil when it lacks nothing or
// a question is on its way.
func (d *deadList) Load(a *app, line *filterLine) tea.Cmd {
	if d.version != line.version {
		d.other(line)
	}
	if d.loading {
		return nil
	}
	now := a.now()
	q, soonest := d.next()
	if q == nil || a.frozen && d.read && q.why != ofEnd {
		return nil
	}
	if d.err != nil {
		soonest = max(soonest, afterError)
	}
	if early := soonest - now.Sub(d.asked); early > 0 {
		if now.Before(d.wakes) {
			return nil
		}
		d.wakes = now.Add(early)
		return a.after(early, wakeMsg{})
	}
	q.choice, q.changes, q.clock, q.at = d.choice, d.changes, d.pic.now, now
	d.loading, d.asked = true, now
	ctx, cancel := context.WithTimeout(a.ctx, ioTimeout)
	d.cancel = cancel
	where := d.filter
	return a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer cancel()
		began := a.now()
		m := deadMsg{deadQuestion: *q}
		if q.why == ofRows {
			m.found.Jobs, m.err = a.cfg.Jobs.ByID(ctx, q.ids...)
		} else {
			m.found, m.err = a.cfg.Jobs.DeadLetters(ctx, where, q.stretch)
		}
		m.took = a.now().Sub(began)
		return m
	})
}

// other begins a list anew, by another filter. What was asked for the one before is
// cancelled; nothing is asked until that has ended.
func (d *deadList) other(line *filterLine) {
	if d.cancel != nil {
		d.cancel()
	}
	d.rows, d.list = nil, selection[int64]{height: d.list.height}
	d.deadReading = deadReading{
		version: line.version, filter: line.applied, choice: d.choice + 1, look: d.look,
		loading: d.loading, signal: d.signal, changes: d.changes,
	}
}

// tookSo notes how a question went: what took too long looks at less next time.
func (d *deadReading) tookSo(m *deadMsg) {
	look := d.stretchLook()
	switch {
	case m.err != nil:
		if d.err == nil {
			d.failed = m.at
		}
		d.err = m.err
		d.look = max(look/4, jobsLeast)
		return
	case m.took > jobsSlow:
		look = max(look/2, jobsLeast)
	default:
		look = min(look*2, jobsLook)
	}
	d.err, d.took, d.look = nil, m.took, look
}
