package ui

import (
	"fmt"
	"math"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// age writes how long ago or how long something is, in at most two units:
// 4s, 2m14s, 3h05m, 2d03h, 412d, 31y. It is never negative: clocks that
// disagree show as 0s.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch d {
	case math.MaxInt64: // further apart than a Duration can say: the time is infinite, or wrong
		return "∞"
	case math.MinInt64:
		return "-∞"
	}
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d/time.Minute), int(d%time.Minute/time.Second))
	case d < day:
		return fmt.Sprintf("%dh%02dm", int(d/time.Hour), int(d%time.Hour/time.Minute))
	case d < 100*day:
		return fmt.Sprintf("%dd%02dh", int(d/day), int(d%day/time.Hour))
	case d < 10*365*day:
		return fmt.Sprintf("%dd", int(d/day))
	}
	return fmt.Sprintf("%dy", int(d/(365*day)))
}

// since is the age of t at now; a dash when there is no such time.
func since(t *time.Time, now time.Time) string {
	if t == nil || t.IsZero() {
		return "–"
	}
	return age(now.Sub(*t))
}

// left writes what remains of a lease: 00:24, 12:05, 3h05m. Seconds are
// rounded up, so that 00:00 means over.
func left(d time.Duration) string {
	d = max(d, 0)
	if d > 0 { // a lease just renewed has its whole length, whatever the clocks measure
		d = max(d-100*time.Millisecond, 1)
	}
	s := int((d + time.Second - 1) / time.Second)
	if s >= 3600 {
		return age(d)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// moment writes a time of the database in UTC; the date only when it is not
// today's.
func moment(t, now time.Time) string {
	if at := queue.At(t); at.Infinity != 0 {
		return at.String()
	}
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05Z")
	}
	return t.Format("2006-01-02 15:04:05Z")
}

// momentAgo is a time, and how long ago that was. An infinite one is marked as what it is.
func momentAgo(t, now time.Time) string {
	if at := queue.At(t); at.Infinity != 0 {
		return at.String() + " (no time of a row should be)"
	}
	return moment(t, now) + " · " + age(now.Sub(t)) + " ago"
}

// due writes when a job may run, from now.
func due(t queue.Time, now time.Time) string {
	switch {
	case t.Never():
		return "never"
	case t.Always():
		return "always"
	case t.Time.After(now):
		return "in " + age(t.Time.Sub(now))
	}
	return moment(t.Time, now)
}

// short writes a measured duration: 0.4 ms, 12 ms, 1.3 s.
func short(d time.Duration) string {
	d = max(d, 0)
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 100_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return age(d)
}
