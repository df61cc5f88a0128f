package ui

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/leasetop/leasetop/queue"
)

// edge is an end of what is loaded.
type edge struct {
	next   *queue.Cursor // where there may be more; nil: there was nothing more when it was read
	looked int           // jobs looked at beyond it since a page was found
	found  int           // and found among them
	most   int           // how many are looked at unasked; 0 is jobsLookTo
}

// lacks tells that there may be more, and it is to be looked for unasked.
func (e *edge) lacks() bool { return e.next != nil && !e.stopped() }

// stopped tells that there may be more, and a person must say whether to look on.
func (e *edge) stopped() bool { return e.next != nil && e.looked >= cmp.Or(e.most, jobsLookTo) }

// Further has it looked at as many again as were looked at: nobody presses a key fifty
// times to come to the end of ten million jobs.
func (e *edge) Further() { e.most = e.looked + max(e.looked, jobsLookTo) }

// Took takes an answer from beyond the edge: where to go on, and how many were looked at
// and found of so many at most.
func (e *edge) Took(next *queue.Cursor, looked, found, limit int) {
	e.next = next
	e.looked += looked
	e.found += found
	if found == limit {
		e.looked, e.found, e.most = 0, 0, 0
	}
}

// tells tells an edge of the answer.
func (m *jobsMsg) tells(e *edge) {
	e.Took(m.found.Next, m.found.Looked, len(m.found.Jobs), m.stretch.Limit)
}

// near are the ends of the list that the cursor is near to, the last one first.
func (j *jobsTab) near() (ends []*edge) {
	if j.list.at+j.list.height+jobsPage/4 > len(j.jobs) {
		ends = append(ends, &j.below)
	}
	if min(j.list.top, j.list.at) < jobsPage/4 {
		ends = append(ends, &j.above)
	}
	return ends
}

// stopped is an end near to the cursor beyond which enough was looked at; nil without one.
func (j *jobsTab) stopped() *edge {
	for _, e := range j.near() {
		if j.read && e.stopped() {
			return e
		}
	}
	return nil
}

// further looks on.
func (j *jobsTab) further() {
	for _, e := range j.near() {
		if e.stopped() {
			e.Further()
		}
	}
}

// scroll has the cursor in the window, as the next frame will.
func (j *jobsTab) scroll() {
	if j.list.height > 0 { // it was drawn
		j.list.Window(j.list.height)
	}
}

// covered is the ids that an answer tells all about.
func (m *jobsMsg) covered() (lowest, highest int64) {
	lowest, highest = math.MinInt64, math.MaxInt64
	from, next := m.stretch.From, m.found.Next
	if m.stretch.Up {
		if from != nil {
			lowest = from.ID + 1
		}
		if next != nil {
			highest = next.ID
		}
		return lowest, highest
	}
	if from != nil {
		highest = from.ID - 1
	}
	if next != nil {
		lowest = next.ID
	}
	return lowest, highest
}

// whole takes a list that stands in the place of the one before.
func (j *jobsTab) whole(m *jobsMsg, jobs []listed) {
	key, _ := j.list.Key()
	j.jobs, j.read, j.newest = jobs, true, m.found.Newest
	j.above, j.below = edge{}, edge{}
	j.list.keys = keysOf(jobs)
	j.list.at, j.list.top = 0, 0
	if m.why == ofTail {
		m.tells(&j.above)
		j.list.Move(toBottom)
	} else {
		m.tells(&j.below)
	}
	j.heads(m, j.above.next == nil)
	if j.jumps && (j.jump == toBottom) == (m.why == ofTail) {
		j.jumps = false
		return
	}
	j.list.Select(key) // the cursor was moved after that was asked
}

// heads notes that an answer goes up to the newest job.
func (j *jobsTab) heads(m *jobsMsg, does bool) {
	if does {
		j.head = m.changes
	}
}

// sighted takes what was in sight again. At the head there may be more new jobs than are
// read at once: then the list does not begin with the newest any more.
func (j *jobsTab) sighted(m *jobsMsg, jobs []listed) {
	lowest, highest := m.covered()
	if m.stretch.From == nil {
		if lowest > math.MinInt64 && lowest-1 > j.newest {
			if j.jumps || len(j.jobs) == 0 && j.below.next == nil {
				j.whole(m, jobs)
				return
			}
			j.above = edge{next: &queue.Cursor{ID: j.newest}}
			return
		}
		j.newest = max(j.newest, m.found.Newest)
		j.heads(m, true)
		j.jumps = j.jumps && j.jump == toBottom
	}
	if j.below.next != nil && lowest <= j.below.next.ID {
		j.below.next = m.found.Next
	}
	j.splice(lowest, highest, jobs)
	j.trim(m.stretch.From == nil)
}

// splice puts jobs in the place of those with ids from lowest to highest. The cursor
// stays on its job; where that is gone, it goes to the next older one.
func (j *jobsTab) splice(lowest, highest int64, jobs []listed) {
	key, had := j.list.Key()
	from, to := j.first(highest), len(j.jobs)
	if lowest > math.MinInt64 {
		to = j.first(lowest - 1)
	}
	j.jobs = slices.Concat(j.jobs[:from], jobs, j.jobs[max(from, to):])
	j.list.keys = keysOf(j.jobs)
	if !had {
		return
	}
	at := max(min(j.first(key), len(j.jobs)-1), 0)
	if j.list.top > 0 || j.above.next != nil { // else the first rows stay in sight as long as the cursor does
		j.list.top = max(j.list.top+at-j.list.at, 0)
	}
	j.list.at = at
}

// first is the place of the newest job whose id is not above this one.
func (j *jobsTab) first(id int64) int {
	return sort.Search(len(j.jobs), func(i int) bool { return j.jobs[i].ID <= id })
}

// trim drops what is too far from the end that grew.
func (j *jobsTab) trim(up bool) {
	over := len(j.jobs) - jobsMost
	if over <= 0 {
		return
	}
	if up {
		j.jobs = j.jobs[:jobsMost]
		j.below = edge{next: &queue.Cursor{ID: j.jobs[jobsMost-1].ID}}
		j.list.keys = j.list.keys[:jobsMost]
		j.list.at = min(j.list.at, jobsMost-1)
		return
	}
	over = min(over, j.list.at, j.list.top)
	if over <= 0 {
		return
	}
	j.jobs, j.list.keys = j.jobs[over:], j.list.keys[over:]
	j.list.at, j.list.top = j.list.at-over, j.list.top-over
	j.above = edge{next: &queue.Cursor{ID: j.jobs[0].ID}}
}

func keysOf(jobs []listed) []int64 {
	keys := make([]int64, len(jobs))
	for i := range jobs {
		keys[i] = jobs[i].ID
	}
	return keys
}

// rowsTook takes rows that were read by their ids: those that are gone, or stand
// elsewhere by now, leave the list.
func (j *jobsTab) rowsTook(m *jobsMsg, jobs []listed) {
	for _, id := range m.ids {
		var now []listed
		at := slices.IndexFunc(jobs, func(one listed) bool { return one.ID == id })
		if at >= 0 && j.fits(&jobs[at].Job) {
			now = jobs[at : at+1]
		}
		j.splice(id, id, now)
	}
}

// fits tells whether a job is of those chosen, as far as that can be told here: what else a
// filter says of it only the database knows.
func (j *jobsTab) fits(job *queue.Job) bool {
	where := &j.line.applied
	if only := where.Queues(); only != nil && !slices.Contains(only, job.Queue) {
		return false
	}
	if only := where.Statuses(); only != nil && !slices.Contains(only, string(job.Status)) {
		return false
	}
	return (j.queue == "" || job.Queue == j.queue) && (j.stands == &standsAny || standingOf(job, j.pic.now) == j.stands)
}
