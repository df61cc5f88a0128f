package ui

import (
	"cmp"
	"context"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// How the list of dead letters is read: a page at a time, by keyset, never with payloads,
// by questions that look at a bounded number of dead letters each; again when the dead
// channel spoke, but not oftener than every quarter of a second or a tenth of the time;
// and never more rows than a person can scroll through.
const (
	deadPage    = 200
	deadEnd     = 2000   // rows of a page on the way to the end
	deadMost    = 20_000 // rows loaded at once
	deadBetween = 250 * time.Millisecond
	deadRest    = 10              // so many times as long as a reading took until the next that nobody asked for
	deadLate    = time.Minute     // how long a transaction may last whose dead letter is still found at its place
	afterError  = 2 * time.Second // when the database did not answer
)

// deadReading is what the list knows of its questions.
type deadReading struct {
	filter  filter.Filter
	version int // of the filter line that it is of

	read    bool // a page has arrived
	loading bool
	cancel  context.CancelFunc // what is being read
	choice  int                // counts up with every filter: answers of another are dropped
	asked   time.Time          // local clock of the last question
	wakes   time.Time          // when the next may be put, if it has to wait
	took    time.Duration
	err     error
	failed  time.Time // since when there are only errors
	look    int       // dead letters to look at by one question; 0 is jobsLook

	signal  uint64        // of the dead channel, when it was looked at last
	changes int           // how often it spoke, or something else is known to have changed
	again   bool          // what changed is to be read at once
	head    int           // the changes that a reading from the newest on knew of
	since   time.Time     // when that was asked, by the database's clock
	fresh   []queue.Job   // newer than the rows, read while there may be others between
	gap     *queue.Cursor // where to go on towards the rows; nil: nothing is between

	below edge
	end   bool // the cursor is to go to the end of all there is, which is not loaded yet
}

// deadQuestion is one that was put to the database.
type deadQuestion struct {
	choice  int
	why     why
	stretch queue.DeadStretch
	ids     []int64   // of rows
	changes int       // that were known of
	clock   time.Time // the database's
	at      time.Time // local
}

// heed notes whether the dead channel spoke.
func (d *deadList) heed() {
	if now := d.pic.state.Dead.Signal; now != d.signal {
		d.signal = now
		d.changes++
	}
}

// Again has what is in sight read again at once, as after a change.
func (d *deadList) Again() {
	d.again = true
	d.changes++
}

func (d *deadReading) stretchLook() int { return cmp.Or(d.look, jobsLook) }

// next is the question that comes next, and how long after the last one at the soonest.
func (d *deadList) next() (*deadQuestion, time.Duration) {
	stretch := queue.DeadStretch{Limit: deadPage, Look: d.stretchLook()}
	gently := pick(d.again, 0, max(deadBetween, deadRest*d.took))
	switch {
	case !d.read:
		return &deadQuestion{why: ofHead, stretch: stretch}, 0
	case d.gap != nil:
		stretch.From = d.gap
		return &deadQuestion{why: ofHead, stretch: stretch}, 0
	case d.below.lacks() && d.nearEnd() && len(d.rows) < deadMost:
		stretch.From = d.below.next
		if d.end {
			stretch.Limit = min(deadEnd, deadMost-len(d.rows))
		}
		return &deadQuestion{why: ofEnd, stretch: stretch}, 0
	case d.head < d.changes && d.list.top < deadPage/4:
		return &deadQuestion{why: ofHead, stretch: stretch}, gently
	}
	var ids []int64
	for _, row := range d.sight() {
		if row.changes < d.changes {
			ids = append(ids, row.ID)
		}
	}
	if ids == nil {
		d.again = false
		return nil, 0
	}
	return &deadQuestion{why: ofRows, ids: ids}, gently
}

// Took takes an answer, and returns the jobs among its rows that are no dead letters any
// more.
func (d *deadList) Took(m *deadMsg) (gone []int64) {
	d.loading = false
	if m.choice != d.choice {
		return nil
	}
	d.tookSo(m)
	if m.err != nil {
		// What was read before stays on the screen; the next tick asks again.
		return nil
	}
	next := cursorPlace(m.found.Next, oldestPlace)
	switch m.why {
	case ofHead:
		d.tookHead(m, next)
	case ofEnd:
		d.below.Took(m.found.Next, m.found.Looked, len(m.found.Jobs), m.stretch.Limit)
		d.splice(cursorPlace(m.stretch.From, newestPlace), next, m.found.Jobs, m.changes)
		if d.end {
			d.Move(toBottom)
		}
	case ofRows:
		gone = d.tookRows(m)
	}
	return gone
}

// tookHead takes what was read from the newest on: the list, or what is newer than its
// rows, down to where these begin and to where nothing can have changed since.
func (d *deadList) tookHead(m *deadMsg, next place) {
	if m.stretch.From == nil {
		d.fresh = nil
	}
	jobs := append(d.fresh, m.found.Jobs...)
	reached := m.found.Next == nil || len(d.rows) > 0 && !next.above(placeOf(&d.rows[0].Job)) ||
		m.found.Through != nil && m.found.Through.Before(d.since.Add(-deadLate))
	switch {
	case !d.read, !reached && len(jobs) >= deadEnd:
		// It stands in the place of the list before: there was none, or too much is new.
		d.rows, d.below = nil, edge{}
		d.below.Took(m.found.Next, m.found.Looked, len(m.found.Jobs), m.stretch.Limit)
	case !reached:
		d.fresh, d.gap = jobs, m.found.Next
		return
	case d.below.next != nil && !next.above(cursorPlace(d.below.next, oldestPlace)):
		d.below.next = m.found.Next
	}
	d.read, d.head, d.since, d.fresh, d.gap = true, max(m.changes, d.head), m.clock, nil, nil
	d.splice(newestPlace, next, jobs, m.changes)
}

// tookRows takes rows that were read by their ids. One that died again stands elsewhere
// now, and one that is no dead letter any more nowhere.
func (d *deadList) tookRows(m *deadMsg) (gone []int64) {
	now := make(map[int64]*queue.Job, len(m.found.Jobs))
	for i := range m.found.Jobs {
		now[m.found.Jobs[i].ID] = &m.found.Jobs[i]
	}
	asked := make(map[int64]bool, len(m.ids))
	for _, id := range m.ids {
		asked[id] = true
		if j := now[id]; j == nil || !j.Status.IsDeadLetter() {
			gone = append(gone, id)
		}
	}
	rows := make([]deadRow, 0, len(d.rows))
	for _, row := range d.rows {
		switch j := now[row.ID]; {
		case !asked[row.ID]:
			rows = append(rows, row)
		case j != nil && j.Status.IsDeadLetter() && placeOf(j).died.Equal(placeOf(&row.Job).died):
			rows = append(rows, deadRow{*j, m.changes})
		}
	}
	d.rows = rows
	d.settle()
	return gone
}
