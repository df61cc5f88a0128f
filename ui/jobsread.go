package ui

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// How the jobs are read: a page when the tab is opened or the cursor comes near the end
// of what is loaded, by questions that look at a bounded number of jobs each; what is in
// sight again when the feed told of a change, gently; one question at a time.
const (
	jobsPage    = 200
	jobsMost    = 2000                   // loaded at once; the far end goes when there are more
	jobsLook    = 10_000                 // jobs looked at by one question
	jobsLookTo  = 200_000                // looked at before a person is asked whether to go on
	jobsSlow    = 100 * time.Millisecond // a question that took longer looked at too many
	jobsLeast   = 500                    // looked at by one question, where more takes too long
	jobsBetween = 2 * time.Second        // from one reading that nobody asked for to the next, or
	jobsRest    = 10                     // so many times as long as it took
)

// reading is what the list knows of its questions.
type reading struct {
	read    bool // an answer has arrived
	loading bool
	choice  int // counts up with every choice: the answer to a question about another is dropped
	asked   time.Time
	took    time.Duration
	wakes   time.Time // when the next question may be put, if it has to wait
	err     error
	failed  time.Time // since when there are only errors
	look    int       // jobs to look at by one question; 0 is jobsLook

	jump  motion // to which end of all there is
	jumps bool
	again bool // what is in sight is to be read again at once

	heeded  *watch.State // that the signs were read off
	known   signs
	changes int   // how often the signs changed
	head    int   // the changes that a reading of the newest jobs knew of
	tried   tried // what was read again last because of a change

	above, below edge
}

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

// Took takes an answer from beyond the edge.
func (e *edge) Took(m *jobsMsg) {
	e.next = m.found.Next
	e.looked += m.found.Looked
	e.found += len(m.found.Jobs)
	if len(m.found.Jobs) == m.stretch.Limit {
		e.looked, e.found, e.most = 0, 0, 0
	}
}

// tried is a reading of what is in sight: it may not have come as far as the last row.
type tried struct {
	changes int
	top     int64
}

// signs are what the feed shows of the jobs chosen: when they change, some jobs have.
type signs struct {
	event  uint64 // the number of the last event
	counts [7]int64
}

// heed notes what the feed shows of the jobs chosen, and whether it changed.
func (j *jobsTab) heed() {
	p := j.pic
	j.heeded = p.state
	now := signs{event: j.known.event}
	for i := len(p.state.Events) - 1; i >= 0; i-- {
		e := &p.state.Events[i]
		if e.Seq <= now.event {
			break
		}
		if e.Queue != "" && (j.queue == "" || e.Queue == j.queue) && e.What != watch.Renewed {
			now.event = e.Seq
			break
		}
	}
	for i := range p.state.Depths.Queues {
		d := &p.state.Depths.Queues[i]
		if j.queue != "" && d.Queue != j.queue {
			continue
		}
		completed := d.Completed
		if !d.CompletedExact {
			completed = 0
		}
		for k, n := range []int64{d.Ready, d.Scheduled, d.Processing, completed, d.Finished, d.Failed, d.Dead} {
			now.counts[k] += n
		}
	}
	if now != j.known {
		j.known = now
		j.changes++
	}
	j.leases = make(map[int64]*watch.Lease, len(p.state.Leases.List))
	for i := range p.state.Leases.List {
		j.leases[p.state.Leases.List[i].JobID] = &p.state.Leases.List[i]
	}
}

// outdated tells that the feed told of a change after some of what is in sight was read.
func (j *jobsTab) outdated() bool {
	return len(j.unread()) > 0 || j.list.top == 0 && j.above.next == nil && j.head < j.changes
}

// unread are the rows in sight that were read before the last change.
func (j *jobsTab) unread() (ids []int64) {
	for _, row := range j.sight() {
		if row.changes < j.changes {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// trial is what reading again would try now.
func (j *jobsTab) trial() tried {
	t := tried{changes: j.changes}
	if j.list.top < len(j.jobs) {
		t.top = j.jobs[j.list.top].ID
	}
	return t
}

// Again has what is in sight read again at once, as after a change.
func (j *jobsTab) Again() {
	j.again = true
	j.changes++
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

// why a question is put.
type why int

const (
	ofHead  why = iota // the list from the newest job
	ofTail             // the list from the oldest job
	ofEnd              // what comes beyond an end of the list
	ofSight            // what is in sight, again
	ofRows             // those rows in sight that a bounded look did not come to
)

// question is one that was put to the database.
type question struct {
	choice  int
	why     why
	filter  queue.Filter
	stretch queue.Stretch
	ids     []int64   // of rows
	at      time.Time // local clock
	changes int       // that were known of
}

// jobsMsg is the answer.
type jobsMsg struct {
	question
	found queue.Found
	took  time.Duration
	err   error
}

// Load returns the command that reads what the list lacks; nil when it lacks nothing, or
// a question is on its way.
func (j *jobsTab) Load(a *app) tea.Cmd {
	if j.loading {
		return nil
	}
	now := a.now()
	q, soonest := j.next()
	if q == nil || a.frozen && !j.again && (q.why == ofSight || q.why == ofRows) {
		return nil
	}
	if j.err != nil {
		soonest = max(soonest, afterError)
	}
	if early := soonest - now.Sub(j.asked); early > 0 {
		if now.Before(j.wakes) {
			return nil
		}
		j.wakes = now.Add(early)
		return a.after(early, wakeMsg{})
	}
	q.choice, q.filter, q.at, q.changes = j.choice, j.stands.filter(j.queue), now, j.changes
	q.stretch.Look = cmp.Or(j.look, jobsLook)
	j.loading, j.asked = true, now
	switch q.why {
	case ofHead:
		j.again = false
	case ofSight:
		j.again, j.tried = false, j.trial()
	}
	return a.io(func(ctx context.Context) tea.Msg {
		began := time.Now()
		var found queue.Found
		var err error
		if q.why == ofRows {
			found.Jobs, err = a.cfg.Jobs.ByID(ctx, q.ids...)
		} else {
			found, err = a.cfg.Jobs.Scan(ctx, q.filter, q.stretch)
		}
		return jobsMsg{*q, found, time.Since(began), err}
	})
}

// next is the question that comes next, and how long after the last one at the soonest.
func (j *jobsTab) next() (*question, time.Duration) {
	switch {
	case j.jumps && j.jump == toBottom:
		return &question{why: ofTail, stretch: queue.Stretch{Up: true, Limit: jobsPage}}, 0
	case !j.read || j.jumps && j.above.next != nil:
		return &question{why: ofHead, stretch: queue.Stretch{Limit: jobsPage}}, 0
	case j.jumps:
		return &question{why: ofSight, stretch: queue.Stretch{Limit: jobsPage}}, 0
	}
	for _, e := range j.near() {
		if e.lacks() {
			return &question{why: ofEnd, stretch: queue.Stretch{From: e.next, Up: e == &j.above, Limit: jobsPage}}, 0
		}
	}
	if !j.outdated() {
		return nil, 0
	}
	if j.tried == j.trial() {
		if rows := j.unread(); len(rows) > 0 {
			return &question{why: ofRows, ids: rows}, 0
		}
		return nil, 0
	}
	sight := question{why: ofSight, stretch: queue.Stretch{Limit: jobsPage}}
	if top := j.list.top; top < len(j.jobs) && (top > 0 || j.above.next != nil) {
		sight.stretch.From = &queue.Cursor{ID: upTo(j.jobs[top].ID)}
		sight.stretch.Limit = max(j.list.height, 1)
	}
	return &sight, pick(j.again, 0, max(jobsBetween, jobsRest*j.took))
}

// upTo is the cursor below which an id is the first.
func upTo(id int64) int64 {
	if id == math.MaxInt64 {
		return id
	}
	return id + 1
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

// Took takes an answer.
func (j *jobsTab) Took(m jobsMsg) {
	j.loading = false
	if m.choice != j.choice {
		return
	}
	if m.err != nil {
		// What was read before stays on the screen; the next tick asks again, for less.
		if j.err == nil {
			j.failed = m.at
		}
		j.err, j.tried = m.err, tried{}
		j.look = max(cmp.Or(j.look, jobsLook)/4, jobsLeast)
		return
	}
	j.err, j.took = nil, m.took
	j.look = min(cmp.Or(j.look, jobsLook)*2, jobsLook)
	if m.took > jobsSlow {
		j.look = max(m.stretch.Look/2, jobsLeast)
	}
	jobs := make([]listed, len(m.found.Jobs))
	for i := range jobs {
		jobs[i] = listed{m.found.Jobs[i], m.at, m.changes}
	}
	switch lowest, highest := m.covered(); m.why {
	case ofHead, ofTail:
		j.whole(&m, jobs)
	case ofEnd:
		j.splice(lowest, highest, jobs)
		if m.stretch.Up {
			j.above.Took(&m)
			j.newest = max(j.newest, m.stretch.From.ID, m.found.Newest)
			j.heads(&m, j.above.next == nil)
		} else {
			j.below.Took(&m)
		}
		j.trim(m.stretch.Up)
	case ofSight:
		j.sighted(&m, jobs)
	case ofRows:
		j.rowsTook(&m, jobs)
	}
	j.scroll()
}

// scroll has the cursor in the window, as the next frame will.
func (j *jobsTab) scroll() {
	if j.list.height > 0 { // it was drawn
		j.list.Window(j.list.height)
	}
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

// fits tells whether a job is of those chosen.
func (j *jobsTab) fits(job *queue.Job) bool {
	return (j.queue == "" || job.Queue == j.queue) && (j.stands == &standsAny || standingOf(job, j.pic.now) == j.stands)
}

// whole takes a list that stands in the place of the one before.
func (j *jobsTab) whole(m *jobsMsg, jobs []listed) {
	key, _ := j.list.Key()
	j.jobs, j.read, j.newest = jobs, true, m.found.Newest
	j.above, j.below = edge{}, edge{}
	j.list.keys = keysOf(jobs)
	j.list.at, j.list.top = 0, 0
	if m.why == ofTail {
		j.above.Took(m)
		j.list.Move(toBottom)
	} else {
		j.below.Took(m)
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
			if len(j.jobs) == 0 || j.jumps {
				j.whole(m, jobs)
				return
			}
			j.above = edge{next: &queue.Cursor{ID: max(j.newest, j.jobs[0].ID)}}
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
