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

// steady is how long something must have worked for its end to be no failure of its
// beginning.
const steady = time.Second

// worked notes for how long it worked what is now to be tried again.
func (p *pace) worked(long time.Duration) {
	if long >= steady {
		p.reset()
	}
}

// endured is how long an answer is waited for after so many that did not come in time: twice
// as long each time, up to eight times.
func endured(usual time.Duration, late int) time.Duration { return usual << min(late, 3) }

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
