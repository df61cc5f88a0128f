package lanes

import (
	"slices"
	"time"
)

// tally tells what a worker did unseen: its jobs are counted, and those that were seen to
// be held are taken off.
type tally struct {
	counts bool   // it tells how many jobs it has done
	done   uint64 // how many that was last
	ended  int    // holds that were seen to end since then, in good order
	credit int    // jobs that were done, and not seen to end: of as many as are held the end may still be seen
	unseen []gap  // in which it did others, oldest first
}

const (
	unseenMost = 256
	// blink is how long ago a job can have been done of which nothing was seen, at most, as
	// far as it is drawn.
	blink = 500 * time.Millisecond
)

// notice notes how many jobs workers have done.
func (r *Recorder) notice(now time.Time, workers []Worker) {
	for _, w := range workers[:min(len(workers), lanesMost)] {
		l := r.lane(w.Name)
		held := 0
		for _, used := range l.used {
			if used {
				held++
			}
		}
		if l.count(w.Done, held) {
			l.did(later(r.before, now.Add(-blink)), now)
		}
	}
}

// count takes how many jobs were done, and reports whether one was that nobody saw. What
// is held and what is done are not read at the same moment: a job may be done that seems to
// be held, or the other way round until the next time.
func (t *tally) count(done uint64, held int) bool {
	fresh, ended, before := 0, t.ended, t.counts
	if done > t.done {
		fresh = int(min(done-t.done, holdsMost))
	}
	t.done, t.ended, t.counts = done, 0, true
	if !before {
		return false
	}
	t.credit = max(t.credit+fresh-ended, -ended)
	over := t.credit > held
	t.credit = min(t.credit, held)
	return over
}

// did notes that in a time something was done unseen.
func (t *tally) did(from, to time.Time) {
	if n := len(t.unseen); n > 0 && !from.After(t.unseen[n-1].to) {
		t.unseen[n-1].to = to
		return
	}
	t.unseen = append(t.unseen, gap{from, to})
	if over := len(t.unseen) - unseenMost; over > 0 {
		t.unseen = slices.Delete(t.unseen, 0, over)
	}
}

// wink draws what was done unseen, where the worker seems to hold nothing; shown says of
// each column whether another row of the worker has it already.
func (c *canvas) wink(shown []bool) {
	for _, g := range c.lane.unseen {
		if g.from.After(c.now) || g.to.Before(c.start) {
			continue
		}
		to := earlier(g.to, c.now)
		for x := max(c.column(g.from), 0); x < c.width && (c.from(x).Before(to) || x == c.column(g.from)); x++ {
			if c.whose[x] == nil && c.cells[x].Style == Idle && !shown[x] {
				c.cells[x], shown[x] = Cell{'▂', Brief}, true
			}
		}
	}
}
