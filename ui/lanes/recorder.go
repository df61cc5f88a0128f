package lanes

import (
	"slices"
	"time"
)

// How much a Recorder keeps: whatever the queue does, it stays within a few megabytes.
const (
	holdsMost  = 8192
	heldMost   = 2048 // of one observation
	lanesMost  = 1024
	spellsMost = 64 // of one worker
)

// Held is one job that somebody holds: a lease.
type Held struct {
	Job     int64
	Worker  string // who holds it: the name of a lane
	Attempt int    // from 1
	Queue   string
	Kind    string
	Since   time.Time // when it was claimed; zero: when it was first seen
	Expires time.Time // when the lease ends unless it is renewed; zero: nobody knows
	// Renews says that its holder renews its leases every third of their length: then
	// it says something when it does not.
	Renews bool
	// Running says that its holder is known to run it. Once it does so no more the lease
	// stands for nothing.
	Running bool
}

// Worker is how one worker is. Workers of which nothing is known but what they hold
// need not be told.
type Worker struct {
	Name  string
	State string    // idle, busy, draining, frozen, partitioned, crashed, stopped
	Since time.Time // when that began; zero: when it was first seen
	Slots int       // how many jobs it runs at once; 0: nobody knows
	Done  uint64    // how many jobs it has done; what was done unseen is drawn as Brief
}

// Recorder keeps who held which job when. The zero value is ready. It is not for
// several goroutines at once.
type Recorder struct {
	// Keep is how far back it goes; 0 is ten minutes.
	Keep time.Duration
	// Brief is how long a job must have been held to have a letter, if there is nothing
	// out of the ordinary about it; 0 is 700 ms. Below nought, each has one at once. With
	// 20 jobs in hand it is twice as long, with 30 three times.
	Brief time.Duration
	// Waits says that the world waits for who looks at it: a run that goes on lasts then, and
	// has its letter at once, unless there is a crowd.
	Waits bool

	now     time.Time
	before  time.Time // of the observation before
	seen    uint64    // observations
	lanes   map[string]*lane
	jobs    map[int64]*job
	open    map[int64]*hold // by job: a job has one holder
	past    []*hold         // that ended, in order of their ends
	fresh   []*hold         // of this observation
	letters letters
	span    time.Duration // that was drawn last
	away    []Outage

	read time.Time        // when the leases were, as Ran says
	told uint64           // the last run that Ran told of
	runs map[runKey]*hold // the last of each
}

// job is what all holds of one job share.
type job struct {
	id          int64
	queue, kind string
	letter      int // its place in alphabet, from 1; 0 has none
	holds       int // in the Recorder
	last        *hold
	ill         bool // a holder of it was not well
	back        bool // its last holder failed at it: it comes back
	story       bool // that, or it was tried again: it keeps its letter
}

// See notes what is held and how the workers are, at a moment. Moments that go back
// are taken as the newest there was.
func (r *Recorder) See(now time.Time, held []Held, workers []Worker) {
	r.ready()
	if now.Before(r.now) {
		now = r.now
	}
	r.before, r.now = r.now, now
	r.seen++
	r.watch(now, workers)
	var fresh []Held
	for _, one := range held[:min(len(held), heldMost)] {
		if !r.goesOn(now, one) {
			fresh = append(fresh, one)
		}
	}
	for _, one := range fresh {
		if h := r.open[one.Job]; h != nil && h.seen != r.seen { // and we did not see its end
			r.end(h, one.from(now))
		}
	}
	for _, h := range r.open {
		if h.seen != r.seen && !r.mayStand(h, now) {
			r.end(h, h.over(now))
		}
	}
	for _, one := range fresh {
		if r.open[one.Job] == nil { // else it is there twice
			r.begin(now, one)
		}
	}
	r.notice(now, workers)
	r.forget(now)
	r.spell(now)
}

func (r *Recorder) ready() {
	if r.lanes == nil {
		r.lanes, r.jobs, r.open, r.runs = map[string]*lane{}, map[int64]*job{}, map[int64]*hold{}, map[runKey]*hold{}
	}
}

// watch notes how the workers are.
func (r *Recorder) watch(now time.Time, workers []Worker) {
	for _, w := range workers[:min(len(workers), lanesMost)] {
		l := r.lane(w.Name)
		l.told, l.watched, l.slots = true, r.seen, max(w.Slots, 0)
		l.turn(conditionOf(w.State), w.State, w.Since, now)
	}
	for _, l := range r.lanes {
		if l.watched != r.seen && l.condition() != unknown {
			l.turn(unknown, "", time.Time{}, now)
		}
	}
}

// goesOn reports whether a job is held as it was before, and notes that.
func (r *Recorder) goesOn(now time.Time, one Held) bool {
	if r.isOld(now, one) {
		return true
	}
	h := r.open[one.Job]
	if h == nil || h.lane.name != one.Worker || h.attempt != one.Attempt || !one.Since.IsZero() && !one.Since.Equal(h.since) {
		return false
	}
	r.sight(h, now, one)
	return true
}

// sight notes that a hold is among the leases.
func (r *Recorder) sight(h *hold, now time.Time, one Held) {
	h.renew(now, r.before, one)
	h.seen, h.leased = r.seen, r.read
}

// from is when the job was claimed, as far as that is known.
func (h Held) from(now time.Time) time.Time {
	if h.Since.IsZero() {
		return now
	}
	return earlier(h.Since, now)
}

// begin notes that a job is held anew.
func (r *Recorder) begin(now time.Time, one Held) {
	from := one.from(now)
	j := r.job(one.Job)
	j.queue, j.kind = one.Queue, one.Kind
	l := r.lane(one.Worker)
	if h := j.last; h != nil && h.lane == l && h.attempt == one.Attempt && !one.Since.IsZero() && h.since.Equal(one.Since) && r.resume(h, now, one) {
		return
	}
	next := &hold{job: j, lane: l, attempt: one.Attempt, since: one.Since, from: from, slot: l.take()}
	r.sight(next, now, one)
	r.add(next)
	r.open[one.Job] = next
}

// job returns what is kept of a job.
func (r *Recorder) job(id int64) *job {
	j := r.jobs[id]
	if j == nil {
		j = &job{id: id}
		r.jobs[id] = j
	}
	return j
}

// add keeps a hold, the last of its job.
func (r *Recorder) add(next *hold) {
	j := next.job
	if before := j.last; before != nil && before.lost {
		before.next, next.from = next, later(next.from, before.to)
		if before.lane != next.lane {
			next.taken = before
		}
	}
	j.last, j.holds, j.story, j.back = next, j.holds+1, j.story || next.attempt > 1, false
	next.lane.holds = append(next.lane.holds, next)
	r.runs[next.key()] = next
	r.fresh = append(r.fresh, next)
}

// resume notes that a hold goes on that seemed to have ended: its lease was not among
// those that were told of. It reports false of one that is forgotten.
func (r *Recorder) resume(h *hold, now time.Time, one Held) bool {
	i := slices.Index(r.past, h)
	if i < 0 {
		return false
	}
	r.past = slices.Delete(r.past, i, i+1)
	h.to, h.lost, h.slot = time.Time{}, false, h.lane.take()
	r.sight(h, now, one)
	r.open[h.job.id] = h
	return true
}

// end closes a hold.
func (r *Recorder) end(h *hold, at time.Time) {
	h.lost = h.loses(at)
	h.job.ill = h.job.ill || h.lost
	h.job.story = h.job.story || h.lost
	h.to = later(at, h.from)
	if !h.lost {
		h.lane.ended++
	}
	h.lane.leave(h.slot)
	delete(r.open, h.job.id)
	i := len(r.past)
	for i > 0 && r.past[i-1].to.After(h.to) {
		i--
	}
	r.past = slices.Insert(r.past, i, h)
}

// lane returns the lane of a worker.
func (r *Recorder) lane(name string) *lane {
	l := r.lanes[name]
	if l == nil {
		l = &lane{name: name}
		r.lanes[name] = l
	}
	return l
}

// Names are the workers of all lanes that are remembered, drawn now or not, as they were seen.
func (r *Recorder) Names() []string {
	names := make([]string, 0, len(r.lanes))
	for name := range r.lanes {
		names = append(names, name)
	}
	return names
}

// forget lets go of what is out of the window, or too much.
func (r *Recorder) forget(now time.Time) {
	keep := r.Keep
	if keep <= 0 {
		keep = 10 * time.Minute
	}
	cut := now.Add(-keep)
	n := 0
	for n < len(r.past) && (r.past[n].to.Before(cut) || len(r.past)-n+len(r.open) > holdsMost) {
		r.drop(r.past[n])
		n++
	}
	r.past = slices.Delete(r.past, 0, n)
	for name, l := range r.lanes {
		l.cut(cut)
		if len(l.holds) == 0 && l.watched != r.seen && (len(l.spells) == 0 || len(r.lanes) > lanesMost) {
			delete(r.lanes, name)
		}
	}
}

// drop forgets a hold that ended.
func (r *Recorder) drop(h *hold) {
	if i := slices.Index(h.lane.holds, h); i >= 0 {
		h.lane.holds = slices.Delete(h.lane.holds, i, i+1)
	}
	if h.next != nil {
		h.next.taken = nil
	}
	if r.runs[h.key()] == h {
		delete(r.runs, h.key())
	}
	if h.job.holds--; h.job.holds == 0 {
		r.letters.free(h.job)
		delete(r.jobs, h.job.id)
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
