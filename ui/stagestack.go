package ui

import (
	"cmp"
	"slices"
)

// section is a part of the page: it wants so many lines beside its edges, is good from
// fewer on, and left out where there are not so many as it needs.
type section struct {
	head             heading
	titled           func(w, h int) heading // instead of head, where that depends on the room
	need, good, want int
	grows            int             // what grows most gets what is left over
	whole            bool            // it grows to what it is good from at once or not at all, and else no further
	uses             func(h int) int // how many of h lines, where not all; others may have the rest
	last             int             // it gets what it needs after those that have less of this
	draw             func(w, h int) []string
}

// fair and most are how many lines a section has where there is room for all, and at most.
func (one section) fair() int { return min(one.good, one.want) }
func (one section) most() int { return one.want }

// heightOf is how many lines blocks take.
func heightOf(blocks []section, edges int, of func(section) int) (sum int) {
	for _, one := range blocks {
		sum += of(one) + edges
	}
	return sum
}

// stacked draws blocks below each other. Where there is little room the first ones are
// drawn first, unless they can wait; all are made good before any has more.
func (t *theme) stacked(blocks []section, w, h int, frame func(heading, []string, int, int, bool) []string, edges int) []string {
	heights, left := make([]int, len(blocks)), h
	turns := make([]int, len(blocks))
	for i := range turns {
		turns[i] = i
	}
	slices.SortStableFunc(turns, func(i, k int) int { return cmp.Compare(blocks[i].last, blocks[k].last) })
	for _, i := range turns {
		if n := blocks[i].need + edges; n <= left {
			heights[i] = n
			left -= n
		}
	}
	content := make([]bool, len(blocks)) // they can use no more
	grow := func(to func(section) int) {
		for more := true; more && left > 0; {
			more = false
			for i, one := range blocks {
				if heights[i] > 0 && heights[i] < to(one)+edges && left > 0 && (!one.whole || heights[i] >= one.fair()+edges) && !content[i] {
					heights[i]++
					left--
					more = true
				}
			}
		}
		for i, one := range blocks {
			if n := one.fair() + edges - heights[i]; one.whole && heights[i] > 0 && n > 0 && n <= left {
				heights[i] += n
				left -= n
			}
		}
	}
	grow(section.fair)
	grow(section.most)
	for i, one := range blocks { // what one has no use for is others'
		if inner := heights[i] - edges; one.uses != nil && inner > 0 {
			if spare := inner - one.uses(inner); spare > 0 {
				heights[i], content[i] = heights[i]-spare, true
				left += spare
			}
		}
	}
	grow(section.most)
	grower := -1
	for i, one := range blocks {
		if heights[i] > 0 && (grower < 0 || one.grows > blocks[grower].grows) {
			grower = i
		}
	}
	if grower < 0 {
		return blankLines(w, h)
	}
	heights[grower] += left
	var lines []string
	for i, one := range blocks {
		if heights[i] == 0 {
			continue
		}
		inner, high, head := w-2*(edges-1), heights[i]-edges, one.head
		if one.titled != nil {
			head = one.titled(inner, high)
		}
		lines = append(lines, frame(head, one.draw(inner, high), w, heights[i], false)...)
	}
	return lines
}
