package queue

import (
	"math"
	"testing"
	"time"
)

// The clock is the test's: an executor that looks whenever it was told to, each look a
// little late.
func TestPaceIsEvenAndKept(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.2, 1, 7, 50, 333, 2000, 40_000} {
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		p := newPace(&standingPlan{Plan: Plan{Pace: rate}, since: math.MaxInt64}, now)
		began, gone, most := now, 0, 0
		var last time.Time
		for now.Sub(began) < 100*time.Second {
			n, wait := p.allow(now)
			if n == 0 {
				now = now.Add(wait + time.Millisecond)
				continue
			}
			p.spend(int64(n))
			gone += n
			most = max(most, n)
			last = now
			now = now.Add(3 * time.Millisecond)
		}
		if got := float64(gone) / last.Sub(began).Seconds(); math.Abs(got-rate) > 0.1*rate {
			t.Errorf("at %g a second: %.2f", rate, got)
		}
		if allowed := max(1, int(math.Ceil(rate/5))); most > allowed {
			t.Errorf("at %g a second: %d at once", rate, most)
		}
	}
}

func TestPaceMakesUpForNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newPace(&standingPlan{Plan: Plan{Pace: 50}, since: time.Hour}, now)
	if n, _ := p.allow(now); n > 1 {
		t.Errorf("%d go at once after a take-over", n)
	}
	if n, _ := p.allow(now.Add(time.Hour)); n > 10 {
		t.Errorf("%d go at once after an hour", n)
	}
	p = newPace(&standingPlan{Plan: Plan{Pace: 0.1}, since: 4 * time.Second}, now)
	if n, wait := p.allow(now); n != 0 || wait.Round(time.Second) != 6*time.Second {
		t.Errorf("%d, then after %v: one went four seconds ago", n, wait)
	}
	p = newPace(&standingPlan{}, now)
	if n, _ := p.allow(now); n != planBatch {
		t.Errorf("unpaced: %d", n)
	}
	p = newPace(&standingPlan{Plan: Plan{Pace: 50}}, now)
	n, _ := p.allow(now.Add(200 * time.Millisecond))
	p.spend(0) // all were skipped
	if again, _ := p.allow(now.Add(200 * time.Millisecond)); n == 0 || again != n {
		t.Errorf("%d, then %d, though none was redriven", n, again)
	}
}
