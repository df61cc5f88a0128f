package watch

import (
	"testing"
	"time"
)

func TestLatencyIsToWithinAnEighth(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, time.Microsecond, 7 * time.Microsecond, 100 * time.Microsecond, 3 * time.Millisecond, time.Second, 47 * time.Minute, 30 * 24 * time.Hour} {
		got := middle(bucket(d))
		if off := (got - d).Abs(); off > d/8+time.Microsecond {
			t.Errorf("%v is told as %v", d, got)
		}
	}
	if b := bucket(1 << 62); b >= len(histogram{}) {
		t.Errorf("bucket %d", b)
	}
	var h histogram
	for i := range 100 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	l := h.latency()
	if l.Count != 100 || (l.P50-50*time.Millisecond).Abs() > 7*time.Millisecond || (l.P99-99*time.Millisecond).Abs() > 13*time.Millisecond {
		t.Errorf("%+v", l)
	}
	if new(histogram).latency() != (Latency{}) {
		t.Error("nothing has a latency")
	}
}

func TestTrafficForgetsWhatIsOlderThanItsWindow(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(d time.Duration) time.Time { return began.Add(d) }
	tr := newTraffic(began)
	tr.add(at(time.Second), 10, moves{dead: 6, reclaimed: 2})
	tr.picked(at(time.Second), 3*time.Millisecond)
	if got := tr.read(at(2 * time.Minute)); got.DeadPerMinute != 3 || got.Expired != 2 || got.Window != 2*time.Minute || got.Pickup.Count != 0 || got.Changes != 0 {
		t.Errorf("%+v", got)
	}
	early := newTraffic(began)
	early.add(at(time.Second), 10, moves{dead: 6})
	early.picked(at(time.Second), 3*time.Millisecond)
	// One death in the first seconds is not sixty a minute.
	if got := early.read(at(5 * time.Second)); got.DeadPerMinute != 6 || got.Pickup.Count != 1 || got.Changes != 2 {
		t.Errorf("%+v", got)
	}
	if got := tr.read(at(time.Hour)); got.DeadPerMinute != 0 || got.Expired != 0 || got.Window > 10*time.Minute || got.Window < 9*time.Minute {
		t.Errorf("%+v", got)
	}
	if tr.add(at(2*time.Hour), 5, moves{dead: 1}); tr.read(at(2*time.Hour)).Changes == 0 {
		t.Error("a change after a long pause is not counted")
	}
}
