package workers

import "time"

// RecoveryBound is how long after a lease has run out the reaper takes it back, at the
// latest, where nothing keeps it from its work. It is what is promised, not a
// measurement: the reaper is there at the moment itself, give or take 10 ms by which
// reapers of several processes come apart, and needs one statement. The rest is room for
// the network, and for a machine with other things to do.
const RecoveryBound = 250 * time.Millisecond

// Recovery sums up how soon leases that ran out were taken back. The zero value is of none
// yet. It is not safe for concurrent use.
type Recovery struct {
	// Judged counts the reclaims that Worst is of: those of leases that a reaper watched,
	// and whatever else came within RecoveryBound, which needs no witness.
	Judged int
	// Worst is the latest of them after its lease's end, by the database's clock.
	Worst time.Duration
	// Unwatched counts the reclaims that were later than RecoveryBound, of leases that ran
	// out while something kept the reaper from its work; see Event.Watched. Worst is not of
	// them, and says little where they are many.
	Unwatched int
}

// Note adds what an event tells of a reclaim. Other events change nothing.
func (r *Recovery) Note(e Event) {
	switch {
	case e.What != ReapedBack && e.What != ReapedDead:
	case e.Watched || e.Late <= RecoveryBound:
		r.Judged++
		r.Worst = max(r.Worst, e.Late)
	default:
		r.Unwatched++
	}
}
