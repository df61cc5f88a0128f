package lanes

import "time"

// stretch is columns beside each other of one hold.
type stretch struct {
	*hold
	first, last int
	begins      bool // the hold does, with them
	comes       bool // and says whence it came
	figure      int  // the column of its attempt; -1 is none
	opening     int  // the column after what says which job it is
}

// lay decides what stands where a stretch begins.
func (c *canvas) lay(r *stretch) {
	r.figure, r.opening = -1, r.first
	if !r.begins {
		return
	}
	if r.comes = r.taken != nil && r.last > r.first; r.comes {
		r.opening++
	}
	if r.opening++; r.attempt > 1 && r.opening <= r.last {
		r.figure = r.opening
		r.opening++
	}
}

// marks are the columns in which the ends of a hold are drawn: of its run, and of its job;
// -1 is none. They do not come before the column at which what says which job it is ends.
func (c *canvas) marks(h *hold, opening int) (run, dead int) {
	run, dead = -1, -1
	if h.run.ID != 0 && !h.run.Ended.IsZero() && !h.run.Ended.After(c.now) && h.run.End >= Fenced {
		if run = c.column(h.run.Ended); run >= 0 {
			run = max(run, opening)
		}
		if h.run.End == Crashed { // which is how the worker is
			opening = max(opening, run+1)
			run = -1
		} else {
			opening = max(opening, run+1)
		}
	}
	if !h.run.Dead.IsZero() && !h.run.Dead.After(c.now) {
		if dead = c.column(h.run.Dead); dead >= 0 {
			dead = max(dead, opening)
		}
	}
	return run, dead
}

// reach has holds that are shorter than what there is to say of them take the columns
// after them, as far as these are nobody's.
func (c *canvas) reach() {
	for _, h := range c.holds {
		first := c.column(h.from)
		if first < 0 || first >= c.width || c.whose[first] != h {
			continue
		}
		opening := first + 1
		if h.taken != nil {
			opening++
		}
		if h.attempt > 1 && h.lettered() > 0 {
			opening++
		}
		run, dead := c.marks(h, opening)
		for x := first + 1; x < c.width && x <= max(opening-1, run, dead); x++ {
			if c.whose[x] != nil && c.whose[x] != h {
				break
			}
			c.whose[x] = h
		}
	}
}

// retriedShort reports whether there is no more than one cell for a later attempt that is
// over: its letter alone would look like a first one's, and a figure behind it like that of
// the job before.
func (h stretch) retriedShort(now time.Time) bool {
	return h.attempt > 1 && h.begins && h.first == h.last && h.taken == nil && !h.goes(now)
}

// opening is a cell of a job that is well: where it begins with whence it came, and which
// attempt it is.
func (c *canvas) opening(h stretch, x int, style Style) Cell {
	switch {
	case h.comes && x == h.first:
		return Cell{'↳', Taken}
	case x == h.figure:
		return Cell{raised(h.attempt), Again}
	case h.retriedShort(c.now):
		return Cell{'↻', Retried}
	case h.attempt > 1:
		style = Again
	}
	return c.letter(h.hold, style)
}
