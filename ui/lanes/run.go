package lanes

import "time"

// Run is one run of a handler, as its own process tells it: exact, where leases are looked
// at now and then. Who tells of runs has even the shortest drawn, and what a worker does
// that has lost its job.
type Run struct {
	ID      uint64 // from 1; a later run has a higher one
	Job     int64
	Worker  string
	Attempt int
	Began   time.Time
	Ended   time.Time // zero as long as it goes on
	End     End
	Dead    time.Time // when it left the job a dead letter; zero when it did not
}

// End is how a run ended.
type End int

// The ends of runs.
const (
	Done    End = iota // with an outcome
	Failed             // with a failure: the job is tried again, unless that was its last attempt
	Back               // given back: the job is tried again
	Fenced             // with an outcome that came too late, and changed nothing
	Stopped            // its worker stopped it, since it could not trust the lease any more
	Crashed            // with its worker
)

// runKey is what a lease and its run have in common.
type runKey struct {
	job     int64
	worker  string
	attempt int
}

func (h *hold) key() runKey { return runKey{h.job.id, h.lane.name, h.attempt} }

// runsMost is how many runs are taken at a time.
const runsMost = 1024

// Ran notes runs, the oldest first: new ones, and what became of those that it was told of
// before. It comes before See, and read is when the leases were read that See will be told:
// what a run did after that they do not say.
func (r *Recorder) Ran(read time.Time, runs []Run) {
	r.ready()
	r.read = read
	for _, one := range runs[max(len(runs)-runsMost, 0):] {
		h := r.runs[runKey{one.Job, one.Worker, one.Attempt}]
		switch {
		case one.ID <= r.told:
			if h == nil || h.run.ID != one.ID {
				continue // it is forgotten
			}
		case h == nil || h.run.ID != 0 || !h.to.IsZero():
			h = r.starts(one)
		}
		r.told = max(r.told, one.ID)
		h.run = one
		h.job.back = h.job.last == h && (one.End == Failed || one.End == Back)
	}
}

// starts notes a run of which no lease was seen yet.
func (r *Recorder) starts(one Run) *hold {
	j, l := r.job(one.Job), r.lane(one.Worker)
	if h := r.open[one.Job]; h != nil {
		r.end(h, h.over(one.Began))
	}
	h := &hold{job: j, lane: l, attempt: one.Attempt, from: one.Began, slot: l.take(), run: one, seen: r.seen}
	r.add(h)
	r.open[one.Job] = h
	return h
}

// isOld reports whether a lease says less than is known from runs: its run is over by now,
// or there was another since.
func (r *Recorder) isOld(now time.Time, one Held) bool {
	if h := r.open[one.Job]; h != nil && h.run.ID != 0 && one.Attempt < h.attempt {
		return true
	}
	h := r.runs[runKey{one.Job, one.Worker, one.Attempt}]
	if h == nil || h.run.ID == 0 || h.to.IsZero() {
		return false
	}
	if h.run.Ended.IsZero() && h.next == nil && r.open[one.Job] == nil {
		r.resume(h, now, one)
	}
	return true
}

// mayStand reports whether a hold that is not among the leases goes on for all that: its
// run does, and nothing speaks against it; or the leases were read before it ended.
func (r *Recorder) mayStand(h *hold, now time.Time) bool {
	switch {
	case h.run.ID == 0:
		return false
	case h.run.Ended.IsZero():
		return !h.ill(now)
	}
	return r.read.Before(h.run.Ended)
}

// over is when a hold ended of which that was noticed at a moment: with its run, unless the
// lease was seen to stand after that, or it was drawn as unwritten: the past stays as it was.
func (h *hold) over(noticed time.Time) time.Time {
	if h.run.ID == 0 || h.run.Ended.IsZero() || h.run.End > Back || h.leased.After(h.run.Ended) || noticed.Sub(h.run.Ended) >= blink {
		return noticed
	}
	return earlier(h.run.Ended, noticed)
}

// loses reports whether the job is taken from its holder when the hold ends at a moment.
func (h *hold) loses(at time.Time) bool {
	switch {
	case h.run.ID == 0 || h.run.Ended.IsZero():
		return h.ill(at)
	case h.run.End <= Back:
		return at.After(h.run.Ended) && h.ill(at) // its outcome could not be written
	}
	return true
}

// trace is how far there is something to draw of a hold: who lost its job may go on with
// it, and not know.
func (h *hold) trace(now time.Time) time.Time {
	switch {
	case h.goes(now):
		return now
	case h.lost && h.run.ID != 0:
		return later(h.to, h.run.Ended)
	}
	return h.to
}

// lasts is for how long the job has been held, or its handler ran where that is over.
func (h *hold) lasts(now time.Time) time.Duration {
	if h.run.ID != 0 && !h.run.Ended.IsZero() {
		now = earlier(h.run.Ended, now)
	}
	return now.Sub(h.from)
}

// runs reports whether its handler is known to go on.
func (h *hold) runs() bool { return h.run.ID != 0 && h.run.Ended.IsZero() }

// unwritten reports whether at a moment the handler had been over for a while, and no end
// of the lease was known: the outcome is yet to be written, as far as that can be seen.
func (h *hold) unwritten(at, now time.Time) bool {
	return h.run.ID != 0 && !h.run.Ended.IsZero() && h.run.End <= Back &&
		at.After(h.run.Ended) && h.until(now).Sub(h.run.Ended) >= blink
}

// goes reports whether at a moment the job is held, or run by who lost it.
func (h *hold) goes(now time.Time) bool {
	return h.going(now) || h.lost && h.run.ID != 0 && (h.run.Ended.IsZero() || h.run.Ended.After(now))
}

// beyond reports whether the hold was over at a moment, and its run was not.
func (h *hold) beyond(at time.Time) bool {
	return h.lost && h.run.ID != 0 && !h.to.IsZero() && at.After(h.to) && (h.run.Ended.IsZero() || h.run.Ended.After(h.to))
}
