package lanes

import (
	"cmp"
	"slices"
	"strings"
)

// inOrder returns the lanes in the order in which they are drawn.
func (r *Recorder) inOrder() []*lane {
	all := make([]*lane, 0, len(r.lanes))
	for _, l := range r.lanes {
		all = append(all, l)
	}
	inOrder(all)
	return all
}

// inOrder sorts lanes by name, w2 before w10: first those of which the caller told how
// they are, then those of which only what they hold is known, by their hosts.
func inOrder(all []*lane) {
	slices.SortFunc(all, func(a, b *lane) int {
		an, ah, _ := strings.Cut(a.name, "@")
		bn, bh, _ := strings.Cut(b.name, "@")
		if a.told != b.told {
			return pick(a.told, -1, 1)
		}
		return cmp.Or(natural(ah, bh), natural(an, bn), cmp.Compare(a.name, b.name))
	})
}

// natural compares texts with the numbers in them by their size.
func natural(a, b string) int {
	for a != "" && b != "" {
		an, bn := figures(a), figures(b)
		if an > 0 && bn > 0 {
			x, y := strings.TrimLeft(a[:an], "0"), strings.TrimLeft(b[:bn], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[an:], b[bn:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// figures is how many digits a text begins with.
func figures(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
