package ui

import (
	"cmp"
	"context"
	"math"
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
	cancel  context.CancelFunc // what is being read
	version int                // of the filter line
	choice  int                // counts up with every choice: the answer to a question about another is dropped
	asked   time.Time          // when the last question was put, and
	heard   time.Time          // when the last one that was answered was
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
	wait := j.line.Load(a)
	if j.version != j.line.version {
		j.Choose(j.queue, j.stands)
	}
	return tea.Batch(wait, j.ask(a))
}

func (j *jobsTab) ask(a *app) tea.Cmd {
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
	q.filter.Where = j.line.applied
	q.stretch.Look = cmp.Or(j.look, jobsLook)
	j.loading, j.asked = true, now
	switch q.why {
	case ofHead:
		j.again = false
	case ofSight:
		j.again, j.tried = false, j.trial()
	}
	ctx, cancel := context.WithTimeout(a.ctx, ioTimeout)
	j.cancel = cancel
	return a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer cancel()
		began := a.now()
		var found queue.Found
		var err error
		if q.why == ofRows {
			found.Jobs, err = a.cfg.Jobs.ByID(ctx, q.ids...)
		} else {
			found, err = a.cfg.Jobs.Scan(ctx, q.filter, q.stretch)
		}
		return jobsMsg{*q, found, a.now().Sub(began), err}
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
	now := j.trial()
	if left := j.before(j.tried.changes); len(left) > 0 && j.tried.top == now.top {
		return &question{why: ofRows, ids: left}, 0
	}
	if !j.outdated() || j.tried == now {
		return nil, 0
	}
	sight := question{why: ofSight, stretch: queue.Stretch{Limit: jobsPage}}
	if top := j.list.top; top < len(j.jobs) && (top > 0 || j.above.next != nil) {
		sight.stretch.From = &queue.Cursor{ID: upTo(j.jobs[top].ID)}
		sight.stretch.Limit = max(j.list.height, 1)
	}
	return &sight, pick(j.again, 0, max(jobsBetween, jobsRest*j.took))
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
	j.err, j.heard, j.took = nil, m.at, m.took
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
			m.tells(&j.above)
			j.newest = max(j.newest, m.stretch.From.ID, m.found.Newest)
			j.heads(&m, j.above.next == nil)
		} else {
			m.tells(&j.below)
		}
		j.trim(m.stretch.Up)
	case ofSight:
		j.sighted(&m, jobs)
	case ofRows:
		j.rowsTook(&m, jobs)
	}
	j.scroll()
}

// upTo is the cursor below which an id is the first.
func upTo(id int64) int64 {
	if id == math.MaxInt64 {
		return id
	}
	return id + 1
}
