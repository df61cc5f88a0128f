package workers

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace is how long to wait before the next try: it doubles from min to max and
// varies by a quarter, so that many processes do not fall into step.
type pace struct {
	min, max time.Duration
	step     time.Duration
}

func (p *pace) next() time.Duration {
	p.step = min(max(2*p.step, p.min), p.max)
	return jitter(p.step, 4)
}

func (p *pace) reset() { p.step = 0 }

// jitter shortens d by up to one part of so many.
func jitter(d time.Duration, parts int) time.Duration {
	return d - rand.N(d/time.Duration(parts)+1)
}

// sleep waits, unless ctx ends first; it reports whether it slept to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
