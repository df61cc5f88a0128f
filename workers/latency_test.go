package workers

import (
	"testing"
	"time"
)

func TestLatencyQuantilesAreWithinABucket(t *testing.T) {
	t.Parallel()
	var h histogram
	for i := 1; i <= 1000; i++ {
		h.add(0, time.Duration(i)*time.Millisecond)
	}
	got := h.sum(0)
	if got.Count != 1000 {
		t.Errorf("%d counted, want 1000", got.Count)
	}
	for _, q := range []struct{ got, want time.Duration }{{got.P50, 500 * time.Millisecond}, {got.P99, 990 * time.Millisecond}} {
		if q.got < q.want || q.got > q.want*6/5 {
			t.Errorf("quantile %v, want %v to a fifth more", q.got, q.want)
		}
	}
}

func TestLatencyForgetsWhatIsOlderThanTheWindow(t *testing.T) {
	t.Parallel()
	var h histogram
	h.add(0, time.Second)
	if got := h.sum(latencyWindow / 2); got.Count != 1 {
		t.Errorf("after half the window %d are counted, want 1", got.Count)
	}
	if got := h.sum(latencyWindow); got != (Latency{}) {
		t.Errorf("after the window %v is left, want nothing", got)
	}
}

func TestLatencyTakesExtremes(t *testing.T) {
	t.Parallel()
	var h histogram
	h.add(0, 0)
	h.add(0, 24*time.Hour)
	if got := h.sum(0); got.P50 != firstEdge || got.P99 < time.Minute {
		t.Errorf("got %v", got)
	}
}
