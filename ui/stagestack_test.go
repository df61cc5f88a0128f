package ui

import (
	"math/rand/v2"
	"testing"
)

// Whatever blocks there are and however little room: they fill it, none has fewer lines
// than it needs, and none goes while one has lines that can wait.
func TestStackedBlocksFillTheirRoom(t *testing.T) {
	t.Parallel()
	theme := newTheme(true, true)
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 7))
		got := map[int]int{}
		var blocks []section
		for i := range 1 + random.IntN(6) {
			need := random.IntN(4)
			good := need + random.IntN(3)
			blocks = append(blocks, section{
				need: need, good: good, want: good + random.IntN(4), whole: random.IntN(3) == 0, last: random.IntN(3), grows: random.IntN(3),
				draw: func(_, h int) []string { got[i] = h; return nil },
			})
		}
		h := random.IntN(40)
		if lines := theme.stacked(blocks, 40, h, theme.ruled, 1); len(lines) != h {
			t.Fatalf("seed %d: %d lines in a room of %d", seed, len(lines), h)
		}
		room, out := h, -1 // what is left beside those that are shown, and the foremost that is not
		for i, one := range blocks {
			lines, shown := got[i]
			switch {
			case !shown && (out < 0 || one.last < blocks[out].last):
				out = i
			case shown && lines < one.need:
				t.Fatalf("seed %d: a block that needs %d lines has %d", seed, one.need, lines)
			}
		}
		if out < 0 {
			continue
		}
		for i, one := range blocks {
			if _, shown := got[i]; shown && (one.last < blocks[out].last || one.last == blocks[out].last && i < out) {
				room -= one.need + 1
			}
		}
		if blocks[out].need+1 <= room {
			t.Fatalf("seed %d: a block that needs %d lines is left out, with room for %d before those that can wait", seed, blocks[out].need, room-1)
		}
	}
}
