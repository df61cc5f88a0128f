package watch

import (
	"math/bits"
	"time"
)

// How far back the figures of traffic go, in steps.
const (
	windowSteps = 60 // of ten seconds: deaths and expired leases
	windowStep  = 10 * time.Second
	pickupSteps = 6 // of the same length
)

// traffic counts what the stream tells of all queues together.
type traffic struct {
	began   time.Time
	moves   rateLine
	changes [rateSeconds + 1]uint32 // of rows, by the second
	second  int64                   // of changes
	step    int64
	dead    [windowSteps]uint32
	expired [windowSteps]uint32
	pickups [pickupSteps]histogram
}

func newTraffic(now time.Time) *traffic { return &traffic{began: now} }

// add counts what happened since the last add.
func (t *traffic) add(now time.Time, changes uint32, all moves) {
	t.advance(now)
	t.changes[t.second%int64(len(t.changes))] += changes
	t.moves.add(t.second, all)
	t.dead[t.step%windowSteps] += all.dead
	t.expired[t.step%windowSteps] += all.reclaimed
}

// picked notes how long a job had been due when it was claimed.
func (t *traffic) picked(now time.Time, after time.Duration) {
	t.advance(now)
	t.pickups[t.step%pickupSteps].add(after)
}

func (t *traffic) advance(now time.Time) {
	elapsed := max(now.Sub(t.began), 0)
	for second := int64(elapsed / time.Second); t.second < second; {
		t.second = max(t.second+1, second-int64(len(t.changes)))
		t.changes[t.second%int64(len(t.changes))] = 0
	}
	for step := int64(elapsed / windowStep); t.step < step; {
		t.step = max(t.step+1, step-windowSteps)
		t.dead[t.step%windowSteps], t.expired[t.step%windowSteps] = 0, 0
		t.pickups[t.step%pickupSteps] = histogram{}
	}
}

func (t *traffic) read(now time.Time) Traffic {
	t.advance(now)
	t.moves.advance(t.second)
	elapsed := now.Sub(t.began)
	// Whole steps and the one that has begun.
	window := min(elapsed, elapsed-time.Duration(t.step)*windowStep+(windowSteps-1)*windowStep)
	out := Traffic{Source: FromWAL, Rate: t.moves.rate(min(elapsed, elapsed-time.Duration(t.second-rateSeconds+1)*time.Second)), Window: window}
	changes := 0.0
	for i := range min(rateSeconds, t.second+1) {
		changes += float64(t.changes[(t.second-i)%int64(len(t.changes))])
	}
	out.Changes = changes / max(min(elapsed.Seconds(), elapsed.Seconds()-float64(t.second)+rateSeconds-1), 1)
	died := int64(0)
	for i := range windowSteps {
		died += int64(t.dead[i])
		out.Expired += int64(t.expired[i])
	}
	// Over a minute at least: one death in the first second is not sixty a minute.
	out.DeadPerMinute = float64(died) / max(window.Minutes(), 1)
	var all histogram
	for i := range t.pickups {
		all.merge(&t.pickups[i])
	}
	out.Pickup = all.latency()
	return out
}

// histogram counts durations in buckets, eight for each doubling: to within an eighth
// of their size, from a microsecond on.
type histogram [8 * 44]uint32

func (h *histogram) add(d time.Duration) { h[bucket(d)]++ }

// bucket: below 8 µs one for each, from there on the three bits behind the first.
func bucket(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < 8 {
		return int(us)
	}
	top := bits.Len64(us) - 1
	return min(8*(top-2)+int(us>>(top-3))&7, len(histogram{})-1)
}

// middle is a duration in the middle of a bucket.
func middle(i int) time.Duration {
	if i < 8 {
		return time.Duration(i) * time.Microsecond
	}
	top := i/8 + 2
	low := (8 + uint64(i%8)) << (top - 3)
	return time.Duration(low+1<<(top-3)/2) * time.Microsecond
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

func (h *histogram) latency() (l Latency) {
	for _, n := range h {
		l.Count += int64(n)
	}
	if l.Count == 0 {
		return l
	}
	seen := int64(0)
	reached := func(percent int64) bool { return seen*100 >= l.Count*percent }
	for i, n := range h {
		before := seen
		seen += int64(n)
		if n > 0 && before*100 < l.Count*50 && reached(50) {
			l.P50 = middle(i)
		}
		if n > 0 && before*100 < l.Count*99 && reached(99) {
			l.P99 = middle(i)
		}
	}
	return l
}
