package lanes

import (
	"slices"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
)

// Style is what a cell means. Each has glyphs of its own, so that it is told without
// colour too.
type Style int

// The styles of cells.
const (
	Blank     Style = iota // nothing is known of the worker, or it is gone
	Idle                   // · the worker is well, and holds nothing
	Brief                  // ▂ it holds a job without a letter: a short one, or there are too many
	Work                   // A the first attempt of a job
	Told                   // A the same, of a job whose holder died or fell silent, or which was tried again
	Again                  // B² a later attempt; the figure stands behind the first letter
	Retried                // ↻ a later attempt that has no room for letter and figure
	Taken                  // ↳ ↱ here the job comes from a worker that lost it
	Crash                  // ✗ here the worker died
	Dead                   // ░ the lease of a worker that died runs on: nobody may have the job
	Silent                 // ? ░ no renewal comes from a worker of which nothing else is known
	Frozen                 // ✱ ~ the worker is a zombie: its handlers go on, nothing else does
	Parted                 // ≠ ╌ the worker cannot reach the database
	Stale                  // A the worker goes on with a job that is not its any more, and does not know
	Refused                // ⊘ what it wrote then was fenced: it changed nothing
	Unwritten              // ▁ its handler is over, and no word of the outcome from the database
	Halted                 // ■ the worker stopped its handler, before the lease ended
	Buried                 // † the job is a dead letter
	Overdue                // ! the lease ran out, and nobody took the job away yet
	Waiting                // ┄ ╮ │ ╯ the way of a job from who lost it to who took it over
	Away                   // ▒ what all workers need is not there
)

// Cell is one character and what it means.
type Cell struct {
	Glyph rune
	Style Style
}

// Row is one lane: a worker, or one of its slots.
type Row struct {
	Worker string // safe to print
	State  string // as it was told last; safe to print; "" when it was not
	Slot   int    // from 1; 0 is the whole worker
	Held   int    // how many jobs it holds now
	Cells  []Cell // as many as were asked for, oldest first
}

// Drawing is the lanes as of a moment.
type Drawing struct {
	Rows   []Row
	Legend []Entry // the letters in Rows
	Hidden int     // workers for which there was no room

	Outages []Gap // oldest first
}

// Draw draws the span before now in so many cells, newest at the right edge, in so many
// rows at most. Columns are slices of time that stay what they are: a second later the
// same cells stand further left. A large picture moves by several columns at a time. With more workers than rows, those with something
// out of the ordinary are drawn first, then those that hold or held something; those that
// ended in good order come last.
func (r *Recorder) Draw(now time.Time, span time.Duration, width, height int) Drawing {
	if width <= 0 || height <= 0 || span <= 0 {
		return Drawing{Hidden: len(r.lanes)}
	}
	r.span = span
	s := r.scale(now, span, width, height)
	all := r.worth(s)
	shown := choose(all, s, height)
	d := Drawing{Hidden: len(all) - len(shown), Outages: r.gaps(s)}
	rows := split(shown, s, height)
	var drawn []*canvas
	for i, l := range shown {
		n := rows[i]
		shown := make([]bool, width)
		for slot := range n {
			c := newCanvas(l, s)
			row := Row{Worker: safe.Text(l.name), Cells: c.cells}
			row.State = safe.Text(l.at(now).state)
			if n > 1 {
				row.Slot = slot + 1
			}
			for _, h := range l.holds {
				if n > 1 && min(h.slot, n-1) != slot {
					continue
				}
				if h.going(now) && !h.from.After(now) {
					row.Held++
				}
				c.add(h, n == 1)
			}
			c.paint()
			c.wink(shown)
			for _, gap := range d.Outages {
				c.shade(gap)
			}
			d.Rows, drawn = append(d.Rows, row), append(drawn, c)
		}
	}
	for y := range drawn {
		for _, h := range drawn[y].holds {
			link(drawn, y, h)
		}
	}
	d.Legend = legend(drawn)
	return d
}

// split is how many rows each worker has: one for each of its slots where there is room
// for all; else one for each that was used; else one.
func split(shown []*lane, s scale, height int) []int {
	slots := func(l *lane) int { return l.lanes() }
	used := func(l *lane) int { return l.usedIn(s) }
	rows := make([]int, len(shown))
	for _, count := range []func(*lane) int{slots, used} {
		sum := 0
		for i, l := range shown {
			rows[i] = count(l)
			sum += rows[i]
		}
		if sum <= height {
			return rows
		}
	}
	for i := range rows {
		rows[i] = 1
	}
	return rows
}

// usedIn is how many slots of the worker there is something to draw of.
func (l *lane) usedIn(s scale) int {
	n := 1
	for _, h := range l.holds {
		if !h.trace(s.now).Before(s.start) && !h.from.After(s.now) {
			n = max(n, min(h.slot+1, l.lanes()))
		}
	}
	return n
}

// lanes is how many rows the worker has where there is room for its slots.
func (l *lane) lanes() int {
	n := max(l.slots, 1)
	for _, h := range l.holds {
		if l.slots == 0 {
			n = max(n, h.slot+1)
		}
	}
	return n
}

// Lanes counts the workers of which there is something to draw, and their slots: with as
// many rows Draw has one for each.
func (r *Recorder) Lanes(now time.Time, span time.Duration) (workers, slots int) {
	all := r.worth(newScale(now, max(span, 1), 1, 1))
	for _, l := range all {
		slots += l.lanes()
	}
	return len(all), slots
}

// worth returns the workers of which there is something to draw, in order.
func (r *Recorder) worth(s scale) []*lane {
	return slices.DeleteFunc(r.inOrder(), func(l *lane) bool { return l.empty(s) })
}

// empty reports whether there is nothing to be drawn of a worker.
func (l *lane) empty(s scale) bool {
	return l.at(s.now).condition == unknown && l.interest(s) == 2
}

// choose returns the workers to be drawn, in order. Of what is of the same interest, the
// living have room before the dead that hold nothing.
func choose(all []*lane, s scale, height int) []*lane {
	if len(all) <= height {
		return all
	}
	var ranks [9][]*lane
	for _, l := range all {
		k := 2 * l.interest(s)
		switch l.at(s.now).condition {
		case gone:
			k = 6 + k/2
		case dead:
			if !l.holding(s.now) {
				k++
			}
		}
		ranks[k] = append(ranks[k], l)
	}
	shown := slices.Concat(ranks[:]...)[:height]
	inOrder(shown)
	return shown
}

// holding reports whether the worker has a job at a moment.
func (l *lane) holding(now time.Time) bool {
	return slices.ContainsFunc(l.holds, func(h *hold) bool { return h.going(now) && !h.from.After(now) })
}

// interest is 0 for a worker with something out of the ordinary in the span, 1 for one
// that held something, 2 for others.
func (l *lane) interest(s scale) int {
	interest := 2
	for _, h := range l.holds {
		if h.trace(s.now).Before(s.start) || h.from.After(s.now) {
			continue
		}
		if h.lost || h.taken != nil || h.going(s.now) && h.ill(s.now) {
			return 0
		}
		interest = 1
	}
	switch was := l.at(s.now); was.condition {
	case dead, frozen, parted:
		if was.from.After(s.start) {
			return 0
		}
	}
	return interest
}

// scale places moments in columns.
type scale struct {
	now, start time.Time
	slice      time.Duration
	width      int
}

// newScale is the scale of a picture that moves by so many columns at a time. Those at its
// right edge that are still to come are empty until it moves on.
func newScale(now time.Time, span time.Duration, width, step int) scale {
	slice := max(span/time.Duration(width), 1)
	by := slice * time.Duration(max(step, 1))
	end := now.Truncate(by).Add(by)
	return scale{now, end.Add(-slice * time.Duration(width)), slice, width}
}

// moveCell is for how long a picture stands still for each of its cells: all of them are
// sent to the terminal anew when it moves, which must not cost more the more there are.
const moveCell = time.Millisecond

// scale is that of a picture of so many cells: it moves by as many columns at a time as
// pass while it has to stand still, a tenth of it at most.
func (r *Recorder) scale(now time.Time, span time.Duration, width, height int) scale {
	s := newScale(now, span, width, 1)
	slots := 0
	for _, l := range r.worth(s) {
		slots += l.lanes()
	}
	still := moveCell * time.Duration(width*min(slots, height))
	step := min(int((still+s.slice/2)/s.slice), width/10)
	return newScale(now, span, width, step)
}

// column is where a moment is; outside of 0 … width-1 when it is not on the picture.
func (s scale) column(t time.Time) int {
	d := t.Sub(s.start)
	if d < 0 {
		return -1
	}
	return int(min(d/s.slice, time.Duration(s.width)))
}

// from is when a column begins.
func (s scale) from(column int) time.Time { return s.start.Add(s.slice * time.Duration(column)) }
