package stories

import (
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// callLog is when a dependency was called during its outage, and for which job.
type callLog struct {
	mu        sync.Mutex
	began     time.Time             // of the outage; zero before
	ended     time.Time             // zero while it lasts
	calls     map[int64][]time.Time // during the outage, by job
	unplotted int
}

func newCallLog() *callLog { return &callLog{calls: map[int64][]time.Time{}} }

// note notes a call.
func (l *callLog) note(job int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unplotted++
	if !l.began.IsZero() && l.ended.IsZero() {
		l.calls[job] = append(l.calls[job], time.Now())
	}
}

// begin and end tell when the outage does.
func (l *callLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
}

func (l *callLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = time.Now()
}

// lasts is how long the outage has lasted, or did.
func (l *callLog) lasts() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.IsZero() {
		return time.Since(l.began)
	}
	return l.ended.Sub(l.began)
}

// over tells whether the outage is.
func (l *callLog) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended.IsZero()
}

// count counts the calls of the outage.
func (l *callLog) count() int { return len(l.from(1)) }

// jobsWith counts the jobs for which there were at least n calls.
func (l *callLog) jobsWith(n int) (jobs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, calls := range l.calls {
		if len(calls) >= n {
			jobs++
		}
	}
	return jobs
}

// from are the calls of the outage, each job's n-th and those after it, the earliest first.
func (l *callLog) from(n int) (all []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, calls := range l.calls {
		if len(calls) >= n {
			all = append(all, calls[n-1:]...)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// retries is how many calls a second there were in the whole outage, but for each job's first.
func (l *callLog) retries() float64 { return float64(len(l.from(2))) / l.lasts().Seconds() }

// busiest is how many retries there were in the busiest span of time.
func (l *callLog) busiest(span time.Duration) (most int) {
	all := l.from(2)
	for first, last := 0, 0; last < len(all); last++ {
		for all[last].Sub(all[first]) > span {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}

// spread is how far apart the jobs' first retries were.
func (l *callLog) spread() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first, last time.Time
	for _, calls := range l.calls {
		if len(calls) < 2 {
			continue
		}
		if at := calls[1]; first.IsZero() || at.Before(first) {
			first = at
		}
		if at := calls[1]; at.After(last) {
			last = at
		}
	}
	return last.Sub(first)
}

// plotOn plots the calls a second until the play is over.
func (l *callLog) plotOn(s *scenario.Stage, name string) {
	last := time.Now()
	s.Plot(name, "calls/s", 0) // plots are in the order in which they have begun
	beside(s, time.Second/10, func() (over bool) {
		l.mu.Lock()
		n := l.unplotted
		l.unplotted = 0
		l.mu.Unlock()
		now := time.Now()
		s.Plot(name, "calls/s", float64(n)/now.Sub(last).Seconds())
		last = now
		return false
	})
}
