package ui

import (
	"cmp"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// How many lines a record keeps at least, and at most: what is being read is not cut.
const (
	recordKept = 10_000
	recordMost = 2 * recordKept
)

// record is the whole journal, oldest first, in the order in which things were learned:
// it grows at its end alone, so a line's number stays its own. What was learned together
// is in the order of time.
type record struct {
	lines  []happening
	first  int    // the number of lines[0]
	seen   uint64 // the last of the feed's events
	heard  uint64 // the last of the workers'
	missed uint64 // how many of the feed's the lines say could not be had any more
	once   map[telling]firstTold
	redone int // the first line that the last take told otherwise, or the end before it
}

// firstTold is when the first of two told something, and in which line.
type firstTold struct {
	at   time.Time
	line int
}

// telling is what both the feed and the workers of this process tell.
type telling struct {
	job    int64
	what   string
	byFeed bool
}

// end is the number that the next line will have.
func (r *record) end() int { return r.first + len(r.lines) }

func (r *record) line(number int) *happening { return &r.lines[number-r.first] }

// full tells whether there is no room for more while what is there is being read.
func (r *record) full(reading bool) bool { return reading && len(r.lines) >= recordMost }

// take appends what is new: events of the feed, before which so many are missing, and
// what the workers of the picture tell.
func (r *record) take(p *picture, events []watch.Event, missed uint64) {
	r.redone = r.end()
	if missed > 0 && r.seen > 0 { // else it is what was before this record
		at := p.now
		if len(events) > 0 {
			at = events[0].At
		}
		r.lines = append(r.lines, happening{at: at, missed: missed})
		r.missed += missed
	}
	r.seen += missed
	news := p.news[heardBefore(p.news, r.heard):]
	for len(events) > 0 || len(news) > 0 {
		if len(news) > 0 {
			if at := p.state.Clock.Now(news[0].At); len(events) == 0 || at.Before(events[0].At) {
				e := news[0] // a copy: a pointer would keep the whole list from being freed
				r.add(happening{at: at, work: &e})
				r.heard, news = news[0].Seq, news[1:]
				continue
			}
		}
		e := events[0]
		r.add(happening{at: events[0].At, feed: &e})
		r.seen, events = events[0].Seq, events[1:]
	}
}

// heardBefore is how many of the workers' events were taken already.
func heardBefore(news []workers.Event, last uint64) int {
	i, _ := slices.BinarySearchFunc(news, last+1, func(e workers.Event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return i
}

// add appends a line, unless the other of the two has told it already. Then it stands in
// the words of the feed, which knows more, whoever was the first.
func (r *record) add(h happening) {
	if what := h.twice(); what != "" {
		mine, other := telling{h.job(), what, h.feed != nil}, telling{h.job(), what, h.feed == nil}
		if was, ok := r.once[other]; ok && near(was.at)(h.at) {
			delete(r.once, other)
			if h.feed != nil && was.line >= r.first {
				*r.line(was.line), r.redone = h, min(r.redone, was.line)
			}
			return
		}
		if r.once == nil || len(r.once) > recordKept/10 { // those that only one of the two tells stay
			r.once = map[telling]firstTold{}
		}
		r.once[mine] = firstTold{h.at, r.end()}
	}
	r.lines = append(r.lines, h)
}

// trim leaves out the oldest lines once there are too many, and returns the number of
// the first that is left.
func (r *record) trim() int {
	if over := len(r.lines) - recordKept; len(r.lines) > recordMost {
		for i := range min(over, recordKept/2) { // that something is missing before the first is worth the room
			if r.lines[over-1-i].missed > 0 {
				over -= 1 + i
				break
			}
		}
		for i := range over {
			r.missed -= r.lines[i].missed
		}
		r.lines = append(make([]happening, 0, recordMost), r.lines[over:]...)
		r.first += over
	}
	return r.first
}

// twice names what a happening tells that both the feed and the workers may tell; "" for
// all others.
func (h *happening) twice() string {
	switch {
	case h.feed != nil && (h.feed.What == watch.Reclaimed || h.feed.OwnerLost()),
		h.work != nil && (h.work.What == workers.ReapedBack || h.work.What == workers.ReapedDead):
		return "reclaimed"
	case h.feed != nil && h.feed.What == watch.CancelAsked,
		h.work != nil && h.work.What == workers.Cancelled:
		return "cancel asked"
	}
	return ""
}
