package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/screenshots/draw"
	"github.com/leasetop/leasetop/ui/term"
)

// film is what was seen, in order: once in a tick at most, and only what looked
// new.
type film []draw.Moment

// tick is the least time between two pictures of a film.
const tick = 100 * time.Millisecond

// add appends what the screen shows at that time. Of several screens in one
// tick the last is kept; what was seen later than it goes.
func (f film) add(screen *term.Frame, at time.Duration) film {
	at = at.Truncate(tick)
	for len(f) > 0 && f[len(f)-1].At >= at {
		f = f[:len(f)-1]
	}
	if n := len(f); n > 0 && f[n-1].Frame.Equal(screen) {
		return f
	}
	return append(f, draw.Moment{Frame: screen, At: at})
}

// split has a moment begin at that time, even if nothing changed then.
func (f film) split(at time.Duration) film {
	next, known := slices.BinarySearchFunc(f, at, func(m draw.Moment, at time.Duration) int { return int(m.At - at) })
	if known || next == 0 {
		return f
	}
	m := f[next-1]
	m.At = at
	return slices.Insert(f, next, m)
}

// cut is a time that a film leaves out.
type cut struct {
	from, length time.Duration
	end          time.Duration // of the step it is in: so long the pictures tell
}

// cuts finds the middle of each step that took longer than it may. ends is when
// the steps were over.
func cuts(steps []step, ends []time.Duration) (found []cut) {
	began := time.Duration(0)
	for i, s := range steps {
		end := ends[i].Truncate(tick)
		if long := (end - began - s.Most).Truncate(tick); s.Most > 0 && long > 0 {
			found = append(found, cut{(began + s.Most/2).Truncate(tick), long, end})
		}
		began = end
	}
	return found
}

// without returns the film without what is cut, and says how much is missing
// in the pictures that follow a cut.
func (f film) without(cuts []cut) film {
	f = slices.Clone(f)
	for _, c := range cuts {
		f = f.split(c.from + c.length).split(c.end)
	}
	var kept film
	for _, m := range f {
		seen := m.At
		for _, c := range cuts {
			if m.At < c.from {
				break
			}
			seen -= min(c.length, m.At-c.from)
			if m.At < c.end {
				m.Note = fmt.Sprintf("%.1f s left out", c.length.Seconds())
			}
		}
		m.At = seen
		// All that was seen in a cut falls on its begin, and the last goes on.
		if n := len(kept); n > 0 && kept[n-1].At == m.At {
			kept = kept[:n-1]
		}
		kept = append(kept, m)
	}
	return kept
}
