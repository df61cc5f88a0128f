package ui

import (
	"slices"
	"sort"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/queue/watch"
)

// jobsTab lists all jobs, newest first: those of one queue or of all, in one standing or
// in any, and of these the ones that a filter lets through. It holds a stretch of them without gaps, read from the database as far as
// somebody scrolls: see jobsread.go for the questions, jobsstretch.go for the answers.
type jobsTab struct {
	pic    *picture
	queue  string // "" is every queue
	stands *standing
	line   filterLine

	jobs   []listed // newest first
	list   selection[int64]
	newest int64 // the highest id there was when nothing was above
	leases map[int64]*watch.Lease
	reading
}

// listed is a job as it was read, and when.
type listed struct {
	queue.Job
	read    time.Time // local clock of the question
	changes int       // that were known of then
}

func newJobsTab() *jobsTab {
	return &jobsTab{stands: &standsAny, reading: reading{jump: toTop, jumps: true}}
}

// Show takes a new picture.
func (j *jobsTab) Show(p *picture) {
	j.pic = p
	if j.heeded != p.state {
		j.heed()
	}
}

// Cycle does nothing: the list is alone.
func (j *jobsTab) Cycle(int) {}

// Move moves the cursor. The ends are the ends of all there is, which are read when the
// list does not go that far.
func (j *jobsTab) Move(m motion) {
	j.list.Move(m)
	j.scroll()
	switch {
	case m == toTop, m == toBottom && j.below.next != nil:
		j.jump, j.jumps = m, true
	default:
		j.jumps = j.jumps && !j.read
	}
}

// Choose lists the jobs of another queue, or in another standing.
func (j *jobsTab) Choose(name string, stands *standing) {
	if name == j.queue && stands == j.stands && j.read && j.version == j.line.version {
		return
	}
	j.queue, j.stands = name, stands
	j.jobs, j.list = nil, selection[int64]{}
	j.newest = 0
	if j.cancel != nil { // nobody wants that answer any more
		j.cancel()
	}
	j.reading = reading{jump: toTop, jumps: true, loading: j.loading, choice: j.choice + 1, version: j.line.version, asked: j.asked, look: j.look, changes: j.changes}
	if j.pic != nil {
		j.heed()
	}
}

// queues are the names of the queues that are known, in their order.
func (j *jobsTab) queues() []string {
	names := make([]string, len(j.pic.state.Depths.Queues))
	for i := range names {
		names[i] = j.pic.state.Depths.Queues[i].Queue
	}
	slices.Sort(names)
	return names
}

// turnQueue chooses the next queue by name, or the one before; all of them stand between
// the last and the first. A queue that is not known any more has its place all the same.
func (j *jobsTab) turnQueue(by int) {
	names := append([]string{""}, j.queues()...) // "" is the first in their order, and no queue's name
	at := sort.SearchStrings(names, j.queue)
	if by > 0 && at < len(names) && names[at] != j.queue {
		at--
	}
	j.Choose(names[(at+by+len(names))%len(names)], j.stands)
}

// turnStanding chooses the next standing, or the one before.
func (j *jobsTab) turnStanding(by int) {
	at := slices.Index(standings, j.stands)
	j.Choose(j.queue, standings[(at+by+len(standings))%len(standings)])
}

// Job returns the job under the cursor.
func (j *jobsTab) Job() (*queue.Job, bool) {
	if j.list.at < len(j.jobs) {
		return &j.jobs[j.list.at].Job, true
	}
	return nil, false
}

// Input is the filter while it is typed.
func (j *jobsTab) Input() *input { return j.line.Input() }

// Typed takes what was changed in it.
func (j *jobsTab) Typed() { j.line.Typed(j.names) }

// names are what there is to complete a filter with.
func (j *jobsTab) names() filter.Known {
	known := j.pic.known()
	for i := range j.jobs {
		known.Kinds = append(known.Kinds, j.jobs[i].Kind)
	}
	return tidy(known)
}

// Keys are what the list's keys do, and the filter's while something is typed.
func (j *jobsTab) Keys(a *app) []action {
	if j.line.typing != nil {
		return j.line.Keys(j.names)
	}
	job, ok := j.Job()
	further := key("space", "further", "look further for jobs that fit, where none was found in what was looked at", func() tea.Cmd {
		j.further()
		return nil
	}).never(pick(j.stopped() != nil, "", "there is nothing further to look at just now"))
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	keys := []action{further}
	if !ok && j.stopped() != nil {
		keys[0].keys = append(keys[0].keys, "enter")
	} else {
		id := int64(0)
		if ok {
			id = job.ID
		}
		keys = append(keys, openKey(a, id, ok))
	}
	keys = append(keys, actsOn(a, job, "")...)
	keys = append(keys,
		key("s", "status", "only jobs of the next status: ready, scheduled, processing, completed, failed, dead, any", do(func() { j.turnStanding(1) })),
		key("S", "", "only jobs of the status before", do(func() { j.turnStanding(-1) })),
		key("right ]", "queue", "only jobs of the next queue by name", do(func() { j.turnQueue(1) })),
		key("left [", "", "only jobs of the queue before", do(func() { j.turnQueue(-1) })),
		j.line.openKey(),
		key("Q", "", "choose the queue by typing a part of its name", func() tea.Cmd { return a.chooseQueue() }),
		key("ctrl+r", "read again", "read what is in sight again, at once", do(j.Again)),
	)
	if j.line.text != "" {
		keys = append(keys, j.line.clearKey())
	}
	return keys
}

// count is how many there are by the live counts, "" when they are not known.
func (j *jobsTab) count() string {
	d := &j.pic.state.Depths
	if d.Source == watch.Unknown || !j.line.applied.Empty() { // nobody counts those that a filter lets through
		return ""
	}
	var sum tally
	known, sampled := j.queue == "", false
	for i := range d.Queues {
		sampled = sampled || !d.Queues[i].CompletedExact
		if j.queue == "" || d.Queues[i].Queue == j.queue {
			known = true
			sum = sum.plus(j.stands.count(&d.Queues[i]))
		}
	}
	if !known && (j.stands == &standsAny || j.stands == &standsCompleted) {
		sum.estimate = sampled // a queue of few jobs, all completed, may be missing
	}
	text := sum.String()
	if old, stale := j.pic.stale(d.Read); stale {
		text += " (" + age(old) + " old)"
	}
	return text
}

// openJobs opens the tab on one queue.
func (a *app) openJobs(name string) tea.Cmd {
	a.jobsTab.Choose(name, &standsAny)
	a.open, a.over = slices.IndexFunc(a.tabs, func(t tab) bool { return t.page == page(a.jobsTab) }), nil
	a.jobsTab.Again()
	a.show()
	return nil
}

// jobsKey opens the jobs of the queue under the cursor.
func jobsKey(a *app, d watch.QueueDepth, ok bool) action {
	return key("enter", "jobs", "list the jobs of the queue under the cursor", func() tea.Cmd {
		return a.openJobs(d.Queue)
	}).unless(pick(ok, "", "no queue under the cursor"))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
