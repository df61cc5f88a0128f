package lanes

// link draws the way of a job from the lane that lost it to row y, where h takes it
// over: along the first, then up or down. What is drawn there already stays, but for
// what says that nothing happens.
func link(rows []*canvas, y int, h *hold) {
	lost := h.taken
	if lost == nil {
		return
	}
	from := -1
	for i, c := range rows {
		if c.lane == lost.lane {
			for _, one := range c.holds {
				if one == lost {
					from = i
				}
			}
		}
	}
	c := rows[y]
	x := c.column(h.from)
	if from < 0 || from == y || x < 0 || x >= c.width || c.whose[x] != h {
		return
	}
	old := rows[from]
	for k := max(min(old.column(lost.to), x), 0); k < x; k++ {
		if old.vacant(k, lost) {
			old.cells[k] = Cell{'┄', Waiting}
		}
	}
	if old.vacant(x, lost) {
		old.cells[x] = Cell{pick(from < y, '╮', '╯'), Waiting}
	}
	for k := min(from, y) + 1; k < max(from, y); k++ {
		if rows[k].vacant(x, nil) {
			rows[k].cells[x] = Cell{'│', Waiting}
		}
	}
	if c.cells[x].Style == Taken && from > y {
		c.cells[x].Glyph = '↱'
	}
}

// vacant reports whether a cell can be drawn over: nothing happens in it, or it is the
// last of the hold.
func (c *canvas) vacant(x int, last *hold) bool {
	if h := c.whose[x]; h != nil {
		if last == nil || c.cells[x].Style == Crash || x == 0 || c.whose[x-1] == nil {
			return false
		}
		if c.cells[x].Style == Dead && c.cells[x-1].Style == Dead && h.lost && c.column(h.to) <= x {
			return true // maybe another job of the same worker, which is lost here too
		}
		return h == last && c.whose[x-1] == last
	}
	switch c.cells[x].Style {
	case Blank, Idle, Away:
		return true
	case Frozen, Parted:
		return last != nil
	}
	return false
}
