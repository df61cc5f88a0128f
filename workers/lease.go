package workers

import (
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// leastTrusted is the shortest time for which a lease may be trusted. Heartbeats keep such a
// lease as it is while round trips take up to 80 ms.
const leastTrusted = 900 * time.Millisecond

// marginPart is the part of a lease that is its margin, when no margin is given.
const marginPart = 10

// margin is how long before its end a lease is no longer trusted. It covers the
// grain of the clock's looks and the time a handler needs to hear of it.
func (o *Options) margin(lease time.Duration) time.Duration {
	if o.Margin > 0 {
		return o.Margin
	}
	return lease / marginPart
}

// smallestLease is the shortest lease that heartbeats can keep.
func (o *Options) smallestLease() time.Duration {
	if o.Margin > 0 {
		return leastTrusted + o.Margin
	}
	return leastTrusted * marginPart / (marginPart - 1)
}

func (o *Options) checkLease(lease time.Duration) error {
	if least := o.smallestLease(); lease < least {
		return fmt.Errorf("a lease of %v is too short for its heartbeats: the smallest is %v (%v plus the margin)",
			lease, least, leastTrusted)
	}
	return nil
}

// period is the time between heartbeats: a third of the lease, or less where the margin is
// most of it.
func (o *Options) period(lease time.Duration) time.Duration {
	return min(lease/3, (lease-o.margin(lease))/2)
}

// stretched is a lease for a network whose round trip is known: the lease itself, if
// heartbeats can keep it.
func (o *Options) stretched(lease, trip time.Duration) time.Duration {
	trusted := o.outlives(lease, trip)
	switch {
	case lease-o.margin(lease) >= trusted:
		return lease
	case o.Margin > 0:
		return trusted + o.Margin
	}
	return trusted*marginPart/(marginPart-1) + 1
}

// outlives is for how long a lease must be trusted on such a network. The heart sends one
// heartbeat at a time, and one that finds a lease gone, as that of a job which was completed
// meanwhile, reads who has it: that is two round trips. The first that renews a claim leaves
// when the claim was answered, or when it is due, and the one before has come back. Round
// trips vary, and the process is busy: there is half of one to spare.
func (o *Options) outlives(lease, trip time.Duration) time.Duration {
	const busy = 50 * time.Millisecond
	return max(trip, o.period(lease)) + heartbeatTrips*trip + heartbeatTrips*trip + trip/2 + busy
}

// heartbeatTrips are the round trips that one heartbeat may take.
const heartbeatTrips = 2

// needed is for how long a lease has to be trusted yet for a handler to begin: for a
// heartbeat to come back, and a margin. A margin that is most of the lease is cut, since a
// lease that was renewed just now must do, a round trip later.
func (o *Options) needed(lease, trip time.Duration) time.Duration {
	margin := o.margin(lease)
	return trip + min(margin, (o.stretched(lease, trip)-margin)/4)
}

// claimLease is how long jobs of a queue are claimed for.
func (p *Pool) claimLease(queue string) time.Duration {
	if own := p.handlers.queues[queue].lease; own > 0 {
		return own
	}
	return p.o.Lease
}

// LongestLease is the longest that a job is claimed or renewed for, by the options or by a
// handler's. A slow network may stretch a lease beyond it: see the package comment.
func (p *Pool) LongestLease() time.Duration {
	return slices.Max(append(p.handlers.leases(), p.o.Lease))
}

// renewalLease is how long a job is renewed for.
func (p *Pool) renewalLease(h handler, job *queue.Job) time.Duration {
	if h.lease > 0 {
		return h.lease
	}
	return p.claimLease(job.Queue)
}
