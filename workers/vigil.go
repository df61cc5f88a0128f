package workers

import "time"

// vigil is since when the reaper has been at work without a break. A lease that ran out
// while it could not look, because the program did not run yet, the database was away or
// the machine slept, was taken back as late as that took, and says nothing of the reaper.
// It is the reaper's own.
type vigil struct {
	kept  bool
	since time.Duration // boot clock
	apart time.Duration // how far the boot clock was ahead of the monotonic one: they part while the machine sleeps
}

// sleptAtLeast is the shortest sleep of a machine; two readings of clocks differ by less.
const sleptAtLeast = 100 * time.Millisecond

// keep notes that the reaper is at work, by the boot clock.
func (v *vigil) keep(now time.Duration) {
	apart := now - monotonic()
	if !v.kept || apart-v.apart >= sleptAtLeast {
		v.kept, v.since = true, now
	}
	v.apart = apart
}

// end notes that something keeps the reaper from its work.
func (v *vigil) end() { v.kept = false }

// saw tells whether the reaper was at work at a moment of the boot clock, and since.
func (v *vigil) saw(moment time.Duration) bool { return v.kept && v.since <= moment }
