package workers

import "time"

// vigil is since when the reaper has been at work without a break. A lease that ran out
// while it could not look, because the program did not run yet or was suspended, the
// database was away or did not answer, or the machine slept, was taken back as late as
// that took, and says nothing of the reaper. Nor does one whose row was locked when it
// looked. It is the reaper's own.
type vigil struct {
	awake func() time.Duration // the monotonic clock, which stands still while the machine sleeps

	kept  bool
	since time.Duration // boot clock
	apart time.Duration // how far the boot clock was ahead of the monotonic one: they part while the machine sleeps
	swept time.Duration // when the last statement was sent that took back all it could
}

// sleptAtLeast is the shortest sleep of a machine; two readings of clocks differ by less.
const sleptAtLeast = 100 * time.Millisecond

// keep notes that the reaper is at work, by the boot clock.
func (v *vigil) keep(now time.Duration) {
	apart := now - v.awake()
	if !v.kept || apart-v.apart >= sleptAtLeast {
		v.kept, v.since = true, now
	}
	v.apart = apart
}

// end notes that something keeps the reaper from its work.
func (v *vigil) end() { v.kept = false }

// waited notes for how long the reaper had to wait for an answer, or overslept. As long as
// it may take for all it does is long enough to say that something keeps it from its work.
func (v *vigil) waited(long time.Duration) {
	if long >= RecoveryBound {
		v.end()
	}
}

// sweep notes when a statement was sent that left no expired lease but those that were locked.
func (v *vigil) sweep(sent time.Duration) { v.swept = sent }

// saw tells whether the reaper was at work when a lease ran out, and since, and could
// have taken it back before. Of that moment of the boot clock only two bounds are known.
func (v *vigil) saw(notBefore, notAfter time.Duration) bool {
	return v.kept && v.since <= notBefore && v.swept <= notAfter
}
