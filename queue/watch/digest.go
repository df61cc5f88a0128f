package watch

import (
	"math"

	"github.com/leasetop/leasetop/queue"
)

// digest is what two pictures of the same jobs have in common: how many stand where,
// and a sum over what each of them is. It changes with every change of a job in
// constant time, so a comparison needs no copy of the jobs.
type digest struct {
	pending, processing, failed, dead int64
	sum                               uint64
}

func (d *digest) count(s standing, by int64) {
	switch s {
	case ready, always, scheduled:
		d.pending += by
	case processing:
		d.processing += by
	case failed:
		d.failed += by
	case dead:
		d.dead += by
	}
}

// off is how many figures differ.
func (d digest) off(other digest) (n int64) {
	for _, differ := range []bool{
		d.pending != other.pending, d.processing != other.processing, d.failed != other.failed, d.dead != other.dead,
	} {
		if differ {
			n++
		}
	}
	if n == 0 && d.sum != other.sum {
		n = 1
	}
	return n
}

func (d digest) jobs() int64 { return d.pending + d.processing + d.failed + d.dead }

// What is summed up for each standing. The order in which jobs came does not matter.
func (d *digest) waiting(queue uint64, id, due int64, by int64) {
	d.sum += uint64(by) * mixed(queue, uint64(id), uint64(due)+1)
}

func (d *digest) ended(queue uint64, id int64, s standing, by int64) {
	d.sum += uint64(by) * mixed(queue, uint64(id), uint64(s)<<56)
}

func (d *digest) leased(queue uint64, r *row, by int64) {
	d.sum += uint64(by) * mixed(queue^hashed(r.owner), uint64(r.id), uint64(r.expiresAt.UnixMicro())+3)
}

// hashed is FNV-1a.
func hashed(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// mixed spreads three numbers over 64 bits, by the finaliser of splitmix64.
func mixed(a, b, c uint64) uint64 {
	h := a ^ b*0x9e3779b97f4a7c15 ^ c*0xc2b2ae3d27d4eb4f
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// standing is where a job stands: its status, pending ones by when they are due.
type standing uint8

const (
	nowhere   standing = iota // completed, or not in the table
	ready                     // pending and due
	always                    // pending, and due since for ever
	scheduled                 // pending, and due later
	processing
	failed
	dead
)

var statuses = [...]queue.Status{nowhere: queue.Completed, ready: queue.Pending, always: queue.Pending, scheduled: queue.Pending, processing: queue.Processing, failed: queue.Failed, dead: queue.Dead}

// standingOf is where a row puts its job, at a time of the database in its microseconds.
func standingOf(status queue.Status, due, now int64) standing {
	switch status {
	case queue.Pending:
		switch {
		case due == math.MinInt64:
			return always
		case due <= now:
			return ready
		}
		return scheduled
	case queue.Processing:
		return processing
	case queue.Failed:
		return failed
	case queue.Dead:
		return dead
	}
	return nowhere
}
