package ui

import "github.com/leasetop/leasetop/ui/safe"

// change is a line of one text or of two: '+' is new, '-' is gone, ' ' is in both, and
// '~' stands for lines that are in both and left out.
type change struct {
	sign rune
	line string
}

// Around a change so many lines are shown that did not; lines beyond the most are
// compared only as far as both texts begin and end alike.
const (
	changeContext = 2
	changeMost    = 1500
)

// changesOf are the lines that differ, with some around them.
func changesOf(was, is []string) []change {
	from, endA, endB := 0, len(was), len(is)
	for from < endA && from < endB && was[from] == is[from] {
		from++
	}
	for endA > from && endB > from && was[endA-1] == is[endB-1] {
		endA--
		endB--
	}
	all := make([]change, 0, len(is)+endA-from)
	for _, line := range was[:from] {
		all = append(all, change{' ', line})
	}
	x, y := was[from:endA], is[from:endB]
	var both []int
	if len(x) <= changeMost && len(y) <= changeMost {
		both = inBoth(x, y)
	}
	i := 0
	var added []change
	flush := func(until func(string) bool) { // what is gone comes before what is new
		for ; i < len(x) && !until(x[i]); i++ {
			all = append(all, change{'-', x[i]})
		}
		all, added = append(all, added...), nil
	}
	for k, line := range y {
		if len(both) == 0 || both[0] != k {
			added = append(added, change{'+', line})
			continue
		}
		both = both[1:]
		flush(func(one string) bool { return one == line })
		all = append(all, change{' ', line})
		i++
	}
	flush(func(string) bool { return false })
	for _, line := range was[endA:] {
		all = append(all, change{' ', line})
	}
	return around(all)
}

// linesChanged counts the lines that are another, new or gone. A line that became another is
// one, though it is drawn as one that is gone and one that is new.
func linesChanged(changes []change) (n int) {
	gone, added := 0, 0
	for _, c := range append(changes[:len(changes):len(changes)], change{sign: ' '}) {
		switch c.sign {
		case '-':
			gone++
		case '+':
			added++
		default:
			n += max(gone, added)
			gone, added = 0, 0
		}
	}
	return n
}

// around leaves out what is far from every change.
func around(all []change) (out []change) {
	keep := make([]bool, len(all))
	for i, c := range all {
		if c.sign == ' ' {
			continue
		}
		for k := max(i-changeContext, 0); k < min(i+changeContext+1, len(all)); k++ {
			keep[k] = true
		}
	}
	for i, left := 0, 0; i <= len(all); i++ {
		if i < len(all) && !keep[i] {
			left++
			continue
		}
		if left > 0 {
			out = append(out, change{'~', plural(left, "line") + " as before"})
			left = 0
		}
		if i < len(all) {
			out = append(out, all[i])
		}
	}
	return out
}

// draw draws the line in w cells.
func (c change) draw(t *theme, w int) string {
	k, front := t.dim, "  "
	switch c.sign {
	case '+':
		k, front = t.good, "+ "
	case '-':
		k, front = t.bad, "- "
	case '~':
		k, front = t.faint, "… "
	}
	return k.draw(safe.Fit(front+safe.Text(c.line), w))
}
