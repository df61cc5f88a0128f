package ui

import (
	"slices"
	"testing"
)

// A number is rounded only where there is no room for it: the columns that can be done
// without go first, and what is left over is its own before others grow.
func TestNumbersAreRoundedLast(t *testing.T) {
	t.Parallel()
	columns := []column{
		{title: "QUEUE", min: 8, max: 16},
		{title: "READY", min: 5, max: 9, need: 7, right: true},
		{title: "OUT/s", min: 5, right: true, rank: 4},
		{title: "60s", min: 5, max: 60, rank: dispensable, grows: true},
	}
	for w, want := range map[int][]int{
		60: {16, 9, 5, 24}, // all have what they can use
		28: {8, 7, 5, 5},
		29: {9, 7, 5, 5},
		27: {13, 7, 5, 0}, // READY would have 6: without the sparkline it has all
		22: {8, 7, 5, 0},
		21: {8, 6, 5, 0}, // rates are worth more than the last digits
		17: {9, 7, 0, 0},
	} {
		if got := arrange(columns, w).widths; !slices.Equal(got, want) {
			t.Errorf("in %d cells: %v, want %v", w, got, want)
		}
	}
}

func TestExactCountsAreWrittenOutBesideTheLeases(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Depths.Queues[0].Ready = 123_456
	newStage(t, w, 120, 36).sees("▸emails   123,456 ", " total    173,785 ")
}
