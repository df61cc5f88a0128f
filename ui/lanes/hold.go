package lanes

import (
	"slices"
	"time"
)

// condition is what a worker's state means for what it holds.
type condition int

const (
	unknown condition = iota
	well
	frozen
	parted // its connections are cut
	dead
	gone // it ended in good order
)

func conditionOf(state string) condition {
	switch state {
	case "":
		return unknown
	case "frozen":
		return frozen
	case "partitioned":
		return parted
	case "crashed", "killed":
		return dead
	case "stopped":
		return gone
	}
	return well
}

// lane is what is kept of one worker.
type lane struct {
	name    string
	slots   int
	told    bool   // it was told how the worker is
	watched uint64 // the observation that told of it last
	spells  []spell
	holds   []*hold // in the order in which they began to be seen
	used    []bool  // by slot: whether something runs in it

	tally
}

// spell is a time in which a worker was in one condition.
type spell struct {
	condition condition
	state     string
	from      time.Time
}

// turn notes the condition of the worker.
func (l *lane) turn(c condition, state string, since, now time.Time) {
	if n := len(l.spells); n > 0 && l.spells[n-1].condition == c {
		l.spells[n-1].state = state
		return
	}
	from := since
	if from.IsZero() {
		from = now
	}
	if n := len(l.spells); n > 0 {
		from = later(from, l.spells[n-1].from)
	}
	l.spells = append(l.spells, spell{c, state, from})
	if over := len(l.spells) - spellsMost; over > 0 {
		l.spells = slices.Delete(l.spells, 0, over)
	}
}

// condition is how the worker is now.
func (l *lane) condition() condition {
	if n := len(l.spells); n > 0 {
		return l.spells[n-1].condition
	}
	return unknown
}

// at is how the worker was at a moment, and since when.
func (l *lane) at(t time.Time) spell {
	for _, s := range slices.Backward(l.spells) {
		if !s.from.After(t) {
			return s
		}
	}
	return spell{}
}

// cut forgets how the worker was long ago.
func (l *lane) cut(before time.Time) {
	n := 0
	for n+1 < len(l.spells) && l.spells[n+1].from.Before(before) {
		n++
	}
	if n+1 == len(l.spells) && l.spells[n].condition == unknown && l.spells[n].from.Before(before) {
		n++
	}
	l.spells = slices.Delete(l.spells, 0, n)
}

// take is the first slot in which nothing runs.
func (l *lane) take() int {
	slot := slices.Index(l.used, false)
	if slot < 0 {
		slot = len(l.used)
		l.used = append(l.used, false)
	}
	l.used[slot] = true
	return slot
}

// leave gives a slot back.
func (l *lane) leave(slot int) { l.used[slot] = false }

// hold is one job in one worker's hands, from its claim to its end.
type hold struct {
	job      *job
	lane     *lane
	attempt  int
	letter   int       // of its job, where it had it before the hold was over; 0 has none
	since    time.Time // as it was told
	from, to time.Time // to is zero as long as it is held
	slot     int
	seen     uint64

	expires time.Time
	renewed time.Time
	lease   time.Duration // 0 is not known
	lost    bool          // it ended by being taken from its holder
	taken   *hold         // from whom it was taken over
	next    *hold         // who has it after this one lost it
	gaps    []gap         // in which it owed a renewal, and was seen to; then one came
	ran     bool          // its worker was known to run the job
	left    time.Time     // since when its worker is known to run the job no more
	stood   time.Duration // for how long the lease was seen to stand after that

	run    Run       // of the handler, where that is told
	leased time.Time // when a lease of it was read last, where runs are told
}

// gap is a time in which no renewal came.
type gap struct{ from, to time.Time }

// early is how soon after its claim a lease must be seen for its length to be known.
const early = time.Second

// renew notes the lease as it is seen now; before is when it was seen last. What had the
// look of silence then was silence, whatever comes later.
func (h *hold) renew(now, before time.Time, one Held) {
	switch {
	case one.Running:
		h.ran, h.left = true, time.Time{}
	case !h.ran:
	case h.left.IsZero():
		h.left = now
	default:
		h.stood = now.Sub(h.left)
	}
	if one.Expires.Equal(h.expires) {
		return
	}
	if since := h.silent(before); !since.IsZero() {
		h.gaps = append(h.gaps, gap{since, now})
		if over := len(h.gaps) - spellsMost; over > 0 {
			h.gaps = slices.Delete(h.gaps, 0, over)
		}
	}
	first := h.expires.IsZero()
	h.expires = one.Expires
	switch {
	case !one.Renews:
		h.lease = 0
	case !first:
		h.renewed, h.lease = now, max(h.lease, one.Expires.Sub(now))
	case now.Sub(h.from) < early:
		h.renewed, h.lease = h.from, one.Expires.Sub(h.from)
	}
}

// silent is since when the holder has owed a renewal, at a moment; zero when it owes
// none. It is said late, so that one that is only a little late says nothing.
func (h *hold) silent(at time.Time) time.Time {
	if h.lease <= 0 || at.Sub(h.renewed) < h.lease*55/100 {
		return time.Time{}
	}
	return h.renewed.Add(h.lease / 3)
}

// ill reports whether the holder is in no condition to finish the job: an end of the
// hold is then no end of the job.
func (h *hold) ill(at time.Time) bool {
	switch h.lane.at(at).condition {
	case dead, frozen, parted:
		return true
	}
	return !h.silent(at).IsZero() || !h.expires.IsZero() && !at.Before(h.expires)
}

// going reports whether the job is held at a moment after its claim.
func (h *hold) going(now time.Time) bool { return h.to.IsZero() || h.to.After(now) }

// until is where the hold ends, or now.
func (h *hold) until(now time.Time) time.Time {
	if h.going(now) {
		return now
	}
	return h.to
}
