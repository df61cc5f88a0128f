package workers

import (
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// roundTrip is the network delay that every allowed lease tolerates as it is.
const roundTrip = 300 * time.Millisecond

// A lease must outlive three round trips: a claim whose answer takes one, the
// wait for a heartbeat that was just missed, and that heartbeat's own answer.
const roundTrips = 3

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
		return roundTrips*roundTrip + o.Margin
	}
	// lease - lease/10 = three round trips
	return roundTrips * roundTrip * marginPart / (marginPart - 1)
}

func (o *Options) checkLease(lease time.Duration) error {
	if least := o.smallestLease(); lease < least {
		return fmt.Errorf("a lease of %v is too short for its heartbeats: the smallest is %v (%d round trips of %v plus the margin)",
			lease, least, roundTrips, roundTrip)
	}
	return nil
}

// stretched is a lease for a network whose round trip is known. Up to 300 ms it
// is the lease itself.
func (o *Options) stretched(lease, trip time.Duration) time.Duration {
	return max(lease, roundTrips*trip+o.margin(lease))
}

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
