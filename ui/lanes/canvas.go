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
	end := h.until(c.now)
	if end.Before(c.start) || h.from.After(c.now) {
		return
	}
	c.holds = append(c.holds, h)
	for x := max(c.column(h.from), 0); x <= min(c.column(end), c.width-1); x++ {
		a, b := c.from(x), c.from(x+1)
		share := earlier(end, b).Sub(later(h.from, a))
		if h.going(c.now) && x == c.width-1 {
			share = b.Sub(later(h.from, a))
		}
		switch before := c.whose[x]; {
		case before == nil:
			if share <= 0 {
				continue
			}
		case (before.job.letter > 0) != (h.job.letter > 0):
			if before.job.letter > 0 {
				continue
			}
		case newest && len(c.holds) > 1 && share*2 >= b.Sub(a):
			if before.from.After(h.from) && c.share[x]*2 >= b.Sub(a) {
				continue
			}
		case share <= c.share[x]:
			continue
		}
		c.whose[x], c.share[x] = h, share
	}
}

// paint draws the cells.
func (c *canvas) paint() {
	for x := range c.cells {
		last := c.from(x + 1).Add(-1)
		if last.After(c.now) {
			last = c.now
		}
		was := c.lane.at(last)
		turned := !was.from.Before(c.from(x)) && x > 0 || x == 0 && c.column(was.from) == 0
		if h := c.whose[x]; h != nil {
			c.cells[x] = c.held(h, x, last, was, turned)
			continue
		}
		c.cells[x] = free(was, turned)
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
func (c *canvas) held(h *hold, x int, last time.Time, was spell, turned bool) Cell {
	end := h.until(c.now)
	at := earlier(last, end)
	first, final := max(c.column(h.from), 0), min(c.column(end), c.width-1)
	switch was.condition {
	case dead, frozen, parted:
		if turned {
			return free(was, true)
		}
	}
	if !h.expires.IsZero() && at.Sub(h.expires) >= overdue {
		return Cell{'!', Overdue}
	}
	before := x == first || c.column(was.from) == x-1 // nothing of the job is to be seen left of it, or just the ✗
	switch was.condition {
	case dead:
		if before && c.column(was.from) <= first {
			return c.letter(h, Dead)
		}
		return Cell{'░', Dead}
	case frozen, parted:
		if (x-c.column(was.from))%4 == 0 || before && c.column(was.from) <= first {
			return c.letter(h, pick(was.condition == frozen, Frozen, Parted))
		}
		return free(was, false)
	}
	if since := h.silent(end); !since.IsZero() && !last.Before(since) {
		if c.column(since) == x || x == first {
			return Cell{'?', Silent}
		}
		return Cell{'░', Silent}
	}
	style := Work
	switch {
	case h.attempt > 1:
		style = Again
	case h.job.story && h.job.letter > 0:
		style = Told
	}
	lead := 0
	if h.taken != nil && final > first {
		if lead = 1; x == first && c.column(h.from) >= 0 {
			return Cell{'↳', Taken}
		}
	}
	if h.attempt > 1 && x == first+lead+1 && final > x && c.column(h.from) >= 0 {
		return Cell{raised(h.attempt), Again}
	}
	return c.letter(h, style)
}

// overdue is how long after its end a lease that stands is worth an alarm: the reaper
// comes within a quarter of a second.
const overdue = time.Second

// letter is the cell with the job's letter.
func (c *canvas) letter(h *hold, s Style) Cell {
	if h.job.letter == 0 {
		return Cell{'▂', pick(s == Work, Brief, s)}
	}
	return Cell{rune(alphabet[h.job.letter-1]), s}
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
