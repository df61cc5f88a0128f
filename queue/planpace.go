package queue

import (
	"math"
	"time"
)

// paceBurst is the longest time whose jobs may go at once: at fifty a second, five jobs ten
// times a second.
const paceBurst = 100 * time.Millisecond

// pace says how many jobs may be redriven now, so that there are so many a second. What
// was not used in a moment is lost.
type pace struct {
	rate   float64 // jobs a second; 0 is unpaced
	credit float64 // jobs that may go, as of at
	at     time.Time
}

// newPace goes on where the plan's last executor was: nothing is owed for the time in
// which nobody executed it.
func newPace(p *standingPlan, now time.Time) pace {
	return pace{rate: p.Pace, credit: min(p.Pace*p.since.Seconds(), 1), at: now}
}

// allow returns how many jobs may go now or, when none may, in what time.
func (p *pace) allow(now time.Time) (n int, wait time.Duration) {
	if p.rate <= 0 {
		return planBatch, 0
	}
	most := max(p.rate*paceBurst.Seconds(), 1)
	p.credit = min(p.credit+p.rate*now.Sub(p.at).Seconds(), 2*most) // a late wake-up is made up for
	p.at = now
	if p.credit < most {
		return 0, time.Duration(min((most-p.credit)/p.rate*1e9, math.MaxInt64/2))
	}
	return int(min(p.credit, planBatch)), 0
}

// spend notes that so many were redriven. Those skipped cost nothing.
func (p *pace) spend(n int64) { p.credit -= float64(n) }
