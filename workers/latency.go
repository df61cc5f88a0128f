package workers

import (
	"math"
	"sync"
	"time"
)

// Latency sums up how long claim statements took lately, as their workers saw it.
type Latency struct {
	P50, P99 time.Duration // upper edges of histogram buckets, within 20 %
	Count    uint64        // claims in the window; 0 means that nothing is known
}

const (
	latencyWindow = time.Minute // what "lately" means; at least half of it is always there
	firstEdge     = 50 * time.Microsecond
	edgeGrowth    = 1.2
	bucketCount   = 80 // 50 µs × 1.2^79 is a minute and a half
)

// histogram counts durations in buckets that grow by a fifth. Two halves of the
// window take turns, so old claims fall out without being remembered one by one.
type histogram struct {
	mu     sync.Mutex
	halves [2][bucketCount]uint64
	epoch  time.Duration // which half window the newest half stands for
}

func (h *histogram) add(now, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(now)
	bucket := 0
	if took > firstEdge {
		bucket = int(math.Ceil(math.Log(float64(took)/float64(firstEdge)) / math.Log(edgeGrowth)))
	}
	h.halves[0][min(bucket, bucketCount-1)]++
}

// turn lets halves that are over fall out.
func (h *histogram) turn(now time.Duration) {
	epoch := now / (latencyWindow / 2)
	switch epoch - h.epoch {
	case 0:
		return
	case 1:
		h.halves[1], h.halves[0] = h.halves[0], [bucketCount]uint64{}
	default:
		h.halves = [2][bucketCount]uint64{}
	}
	h.epoch = epoch
}

func (h *histogram) sum(now time.Duration) Latency {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(now)
	var all [bucketCount]uint64
	var l Latency
	for i := range all {
		all[i] = h.halves[0][i] + h.halves[1][i]
		l.Count += all[i]
	}
	l.P50, l.P99 = quantile(&all, l.Count, 0.50), quantile(&all, l.Count, 0.99)
	return l
}

func quantile(buckets *[bucketCount]uint64, count uint64, q float64) time.Duration {
	if count == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(count)))
	for i, n := range buckets {
		if n >= rank {
			return time.Duration(float64(firstEdge) * math.Pow(edgeGrowth, float64(i)))
		}
		rank -= n
	}
	return 0
}
