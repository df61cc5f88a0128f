package ui

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// happening is one line of the journal before it is put in words: what the feed
// saw in the database, or what a worker of this process did or met.
type happening struct {
	at   time.Time // the database's clock
	feed *watch.Event
	work *workers.Event

	missed uint64 // so many events that nobody can tell any more, instead of either
}

// happeningKey is a line's identity, for the cursor.
type happeningKey struct {
	ours bool
	seq  uint64
}

func (h happening) key() happeningKey {
	if h.work != nil {
		return happeningKey{true, h.work.Seq}
	}
	return happeningKey{false, h.feed.Seq}
}

// job is the one it is about, 0 when it is about no single job.
func (h happening) job() int64 {
	switch {
	case h.work != nil:
		return h.work.JobID
	case h.feed != nil:
		return h.feed.JobID
	}
	return 0
}

// routine tells whether it is a step of a job that goes well: these come by the
// hundred, and those that do not must stay in sight among them.
func (h happening) routine() bool {
	return h.feed != nil && h.feed.Routine()
}

// trouble tells whether something went wrong: not by somebody's will, and not as it
// does in the course of things.
func (h happening) trouble() bool {
	if h.work != nil {
		switch h.work.What {
		case workers.Spawned, workers.DrainBegun, workers.WorkerEnded, workers.Thawed, workers.Cancelled, workers.Purged:
			return false
		}
		return true
	}
	if h.feed != nil {
		switch h.feed.What {
		case watch.Retried, watch.Lost, watch.Reclaimed, watch.Failed, watch.Buried, watch.Truncated, watch.Health:
			return true
		}
		return false
	}
	return true
}

// journalKept bounds what one journal shows of each kind: of the routine, of the rest,
// and of what our workers tell.
const journalKept = 300

// nearly is how far apart the feed and the workers may date the same thing.
const nearly = 2 * time.Second

// cancels tells of which jobs the feed tells that somebody cancelled them, and when
// such a job ended last; the zero time when none has.
func (p *picture) cancels() map[int64]time.Time {
	told := map[int64]time.Time{}
	for e := range p.told() {
		switch e.What {
		case watch.Cancelled:
			told[e.JobID] = e.At
		case watch.CancelAsked:
			if _, ok := told[e.JobID]; !ok {
				told[e.JobID] = time.Time{}
			}
		}
	}
	return told
}

// reclaims tells when the feed tells of which jobs that they were taken from their workers.
func (p *picture) reclaims() map[int64][]time.Time {
	told := map[int64][]time.Time{}
	for e := range p.told() {
		if e.What == watch.Reclaimed || e.OwnerLost() {
			told[e.JobID] = append(told[e.JobID], e.At)
		}
	}
	return told
}

// near tells whether two who date the same thing may mean that.
func near(at time.Time) func(time.Time) bool {
	return func(other time.Time) bool { return other.Sub(at).Abs() < nearly }
}

// told is what the feed tells, oldest first: the newest events, and before those the
// ones that are out of the ordinary, which no burst of others pushes out of sight.
func (p *picture) told() iter.Seq[*watch.Event] {
	return func(yield func(*watch.Event) bool) {
		events := p.state.Events
		for i := range p.state.Notable {
			e := &p.state.Notable[i]
			if len(events) > 0 && e.Seq >= events[0].Seq {
				break
			}
			if !yield(e) {
				return
			}
		}
		for i := range events {
			if !yield(&events[i]) {
				return
			}
		}
	}
}

// journal merges what the feed and the workers tell, newest first. Renewals are left
// out. What both tell is told by the feed, as in the record: it knows the kind and the
// attempts of a reclaimed job, and who wanted one cancelled. A cancel is told once: its end
// takes the place of the request.
func (p *picture) journal() []happening {
	out := make([]happening, 0, journalKept)
	reclaimed, cancelled := p.reclaims(), p.cancels()
	for i := range slices.Backward(p.news) {
		if len(out) == journalKept {
			break
		}
		e := &p.news[i]
		at := p.state.Clock.Now(e.At)
		if _, told := cancelled[e.JobID]; told && e.What == workers.Cancelled {
			continue
		}
		if (e.What == workers.ReapedBack || e.What == workers.ReapedDead) && slices.ContainsFunc(reclaimed[e.JobID], near(at)) {
			continue
		}
		out = append(out, happening{at: at, work: e})
	}
	told := slices.Collect(p.told())
	room := map[bool]int{true: journalKept, false: journalKept} // for routine, and for the rest
	for _, e := range slices.Backward(told) {
		if e.What == watch.Renewed || room[e.Routine()] == 0 {
			continue
		}
		if e.What == watch.CancelAsked && !cancelled[e.JobID].Before(e.At) {
			continue
		}
		out = append(out, happening{at: e.At, feed: e})
		room[e.Routine()]--
	}
	slices.SortStableFunc(out, func(a, b happening) int { return b.at.Compare(a.at) })
	return out
}

// journalOf is the part of the journal that is about one worker.
func (p *picture) journalOf(w workers.Snapshot) []happening {
	one := *p
	one.news = nil
	for _, e := range p.news {
		if e.Worker == w.Name || e.Worker == "" && strings.HasPrefix(e.Owner, w.Owner+"#") {
			one.news = append(one.news, e)
		}
	}
	state := *p.state
	state.Events, state.Notable = nil, nil
	for e := range p.told() {
		if strings.HasPrefix(e.Owner, w.Owner+"#") {
			state.Events = append(state.Events, *e)
		}
	}
	one.state = &state
	return one.journal()
}
