package lanes

import "time"

// canvas is one row while it is drawn.
type canvas struct {
	scale
	lane  *lane
	cells []Cell
	whose []*hold // by column: whose the cell is
	share []time.Duration
	holds []*hold
}

func newCanvas(l *lane, s scale) *canvas {
	return &canvas{
		scale: s, lane: l,
		cells: make([]Cell, s.width), whose: make([]*hold, s.width), share: make([]time.Duration, s.width),
	}
}

// add has a hold take the columns of which it has most. Where a row is all of a
// worker's slots, the hold that began last takes them.
func (c *canvas) add(h *hold, newest bool) {
	end := h.trace(c.now)
	if end.Before(c.start) || h.from.After(c.now) {
		return
	}
	c.holds = append(c.holds, h)
	for x := max(c.column(h.from), 0); x <= min(c.column(end), c.width-1); x++ {
		if share := c.part(h, x); c.beats(h, x, share, newest) {
			c.whose[x], c.share[x] = h, share
		}
	}
}

// part is how long a hold lasts within a column. What is held now has all of the rest.
func (c *canvas) part(h *hold, x int) time.Duration {
	a, b := later(h.from, c.from(x)), c.from(x+1)
	if !h.goes(c.now) {
		b = earlier(h.trace(c.now), b)
	}
	return b.Sub(a)
}

// beats reports whether a column goes to h rather than to whose it is: to where a job is
// taken over, which must be seen however short it was; then to who has a letter; then to
// who has more of it.
func (c *canvas) beats(h *hold, x int, share time.Duration, newest bool) bool {
	before := c.whose[x]
	if before == nil {
		return share > 0
	}
	for _, matters := range []func(*hold) bool{
		func(h *hold) bool { return h.taken != nil && c.column(h.from) == x },
		func(h *hold) bool { return h.lettered() > 0 },
		func(h *hold) bool { return newest && c.part(h, x)*2 >= c.slice },
	} {
		if was, is := matters(before), matters(h); was != is {
			return is
		}
	}
	if newest && !h.from.Equal(before.from) && share*2 >= c.slice {
		return h.from.After(before.from)
	}
	return share > c.share[x]
}

// paint draws the cells.
func (c *canvas) paint() {
	begun := map[*hold]bool{}
	c.reach()
	for x := 0; x < c.width; {
		h, end := c.whose[x], x+1
		for end < c.width && c.whose[end] == h {
			end++
		}
		r := stretch{hold: h, first: x, last: end - 1, begins: h != nil && !begun[h] && c.column(h.from) >= 0}
		begun[h] = true
		if h != nil {
			c.lay(&r)
		}
		for ; x < end; x++ {
			last := earlier(c.from(x+1).Add(-1), c.now)
			was := c.lane.at(last)
			turned := c.column(was.from) == x
			if h == nil && c.from(x).After(c.now) {
				c.cells[x] = Cell{' ', Blank}
				continue
			}
			if h == nil {
				c.cells[x] = free(was, turned)
				continue
			}
			c.cells[x] = c.held(r, x, last, was, turned)
		}
	}
}

// free is a cell in which the worker holds nothing.
func free(was spell, turned bool) Cell {
	switch was.condition {
	case well:
		return Cell{'·', Idle}
	case frozen:
		if turned {
			return Cell{'✱', Frozen}
		}
		return Cell{'~', Frozen}
	case parted:
		if turned {
			return Cell{'≠', Parted}
		}
		return Cell{'╌', Parted}
	case dead:
		if turned {
			return Cell{'✗', Crash}
		}
	}
	return Cell{' ', Blank}
}

// held is a cell in which the worker holds a job.
func (c *canvas) held(h stretch, x int, last time.Time, was spell, turned bool) Cell {
	if run, dead := c.marks(h.hold, h.opening); x == dead {
		return Cell{'†', Buried}
	} else if x == run {
		return pick(h.run.End == Fenced, Cell{'⊘', Refused}, Cell{'■', Halted})
	}
	end := h.until(c.now)
	at := earlier(last, end)
	died := was.condition == dead && h.begins && c.column(was.from) >= h.first
	switch {
	case died && (x < h.opening && h.last >= h.opening):
		return c.opening(h, x, Work) // who died as it began is seen to have begun
	case died && x == max(c.column(was.from), h.opening) && h.last >= h.opening:
		return Cell{'✗', Crash}
	case died && h.last >= h.opening:
	case turned && (was.condition == dead || was.condition == frozen || was.condition == parted):
		return free(was, true)
	}
	if h.opening <= x && h.beyond(c.from(x)) && c.column(h.to) < x {
		if was.condition == frozen || was.condition == parted || was.condition == dead {
			return free(was, false)
		}
		return c.letter(h.hold, Stale)
	}
	if !h.expires.IsZero() && at.Sub(h.expires) >= overdue {
		return Cell{'!', Overdue}
	}
	if h.isLeft(at) {
		return Cell{'░', Dead}
	}
	// Nothing of the job is to be seen left of it, or just the ✗. Where the row is that of all
	// jobs of the worker, one that ends a little later than another says nothing.
	before := c.column(was.from) == x-1 || x == h.first && !(x > 0 && c.whose[x-1] != nil && c.column(was.from) < x)
	switch was.condition {
	case dead:
		if before && c.column(was.from) <= h.first && !died {
			return c.letter(h.hold, Dead)
		}
		return Cell{'░', Dead}
	case frozen, parted:
		if (x-c.column(was.from))%4 == 0 || before && c.column(was.from) <= h.first {
			return c.letter(h.hold, pick(was.condition == frozen, Frozen, Parted))
		}
		return free(was, false)
	}
	if x >= h.opening && h.unwritten(c.from(x), c.now) {
		return Cell{'▁', Unwritten}
	}
	if since := h.quiet(last, end); !since.IsZero() {
		if c.column(since) == x || x == h.first {
			return Cell{'?', Silent}
		}
		return Cell{'░', Silent}
	}
	style := Work
	switch {
	case h.attempt > 1:
		style = Again
	case h.job.story && h.lettered() > 0:
		style = Told
	}
	return c.opening(h, x, style)
}

// quiet is since when the holder had owed a renewal, at a moment of a hold that ends at
// end, as far as that was seen; zero when it owed none.
func (h *hold) quiet(at, end time.Time) time.Time {
	for _, g := range h.gaps {
		if !at.Before(g.from) && at.Before(g.to) {
			return g.from
		}
	}
	if since := h.silent(end); !since.IsZero() && !at.Before(since) {
		return since
	}
	return time.Time{}
}

// isLeft reports whether the lease stands at a moment, and nobody runs the job: its worker
// stopped it.
func (h *hold) isLeft(at time.Time) bool {
	if h.run.ID != 0 && h.run.End == Stopped && !h.run.Ended.IsZero() {
		return at.After(h.run.Ended)
	}
	return !h.left.IsZero() && h.stood >= overdue && !at.Before(h.left)
}

// overdue is how long after its end a lease that stands is worth an alarm: the reaper
// comes within a quarter of a second.
const overdue = time.Second

// letter is the cell with the job's letter.
func (c *canvas) letter(h *hold, s Style) Cell {
	letter := h.lettered()
	if letter == 0 {
		return Cell{'▂', pick(s == Work, Brief, s)}
	}
	return Cell{rune(alphabet[letter-1]), s}
}

// raised is the figure of an attempt, as an exponent.
func raised(attempt int) rune {
	figures := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	if attempt >= len(figures) {
		return '⁺'
	}
	return figures[max(attempt, 0)]
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
