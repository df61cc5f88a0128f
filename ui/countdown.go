package ui

import (
	"strings"
	"time"
)

// spans knows how long leases are from end to end. No row says so: a renewal
// moves the end and leaves the start. But a lease is never longer than from its
// claim to its end, and never shorter than what was left when that end was first
// seen; between them, the jobs of one kind soon leave one answer.
type spans struct {
	leases map[spanKey]span
	kinds  map[string]bounds
}

type spanKey struct {
	job   int64
	owner string
}

type span struct {
	ends  time.Time
	least time.Duration
	seen  bool
}

type bounds struct{ least, most time.Duration }

// longRun is from where on a claim is taken to have been renewed, as long as
// nothing is known of its kind.
const longRun = 2 * time.Minute

// Begin starts a reading; leases that are not seen before End are forgotten.
func (s *spans) Begin() {
	for key, one := range s.leases {
		one.seen = false
		s.leases[key] = one
	}
}

// See notes a lease of a job of this kind and returns how long it is.
func (s *spans) See(key spanKey, kind string, given, ends, now time.Time) time.Duration {
	if s.leases == nil {
		s.leases, s.kinds = map[spanKey]span{}, map[string]bounds{}
	}
	whole := max(ends.Sub(given), 0)
	one, known := s.leases[key]
	b := s.kinds[kind]
	if !known || !ends.Equal(one.ends) {
		one.least = max(one.least, min(ends.Sub(now), whole))
		b.least = max(b.least, one.least)
	}
	if b.most == 0 || whole < b.most {
		b.most = whole
	}
	one.ends, one.seen = ends, true
	s.leases[key], s.kinds[kind] = one, b
	long := min(b.most, whole)
	if long > longRun && long > 4*b.least {
		long = b.least
	}
	return max(long, one.least)
}

// End closes a reading.
func (s *spans) End() {
	for key, one := range s.leases {
		if !one.seen {
			delete(s.leases, key)
		}
	}
}

// reclaimSoon is how long after its end a lease may well wait for the reaper.
// Beyond that it is worth knowing for how long nobody came.
const reclaimSoon = 2 * time.Second

// lapsed says in w cells what there is to say about a lease that is over.
func lapsed(over time.Duration, w int) string {
	if over <= reclaimSoon {
		return "reclaim due"
	}
	text := "overdue " + age(over)
	if len(text) > w {
		text = "late " + age(over)
	}
	return text
}

// portion is how much of a lease is left, 0 to 1.
func portion(left, long time.Duration) float64 {
	if long <= 0 || left <= 0 {
		return 0
	}
	return min(float64(left)/float64(long), 1)
}

// bar draws a countdown of exactly w cells: a heavy line on a light one, which
// shows without colour too. It turns at one half and at one fifth; there a "!"
// says so as well.
func (t *theme) bar(share float64, w int) string {
	if w < 4 {
		return strings.Repeat(" ", max(w, 0))
	}
	k, sign := t.good, "  "
	switch {
	case share <= 0.2:
		k, sign = t.bad, " !"
	case share <= 0.5:
		k = t.warn
	}
	w -= len(sign)
	halves := int(share*float64(w)*2 + 0.5)
	if share > 0 {
		halves = max(halves, 1)
	}
	fill := strings.Repeat("━", halves/2)
	if halves%2 == 1 {
		fill += "╸"
	}
	return k.draw(fill) + t.faint.draw(strings.Repeat("─", w-(halves+1)/2)) + t.alarm.draw(sign)
}
