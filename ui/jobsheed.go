package ui

import "github.com/leasetop/leasetop/queue/watch"

// tried is a reading of what is in sight: it may not have come as far as the last row.
type tried struct {
	changes int
	top     int64
}

// signs are what the feed shows of the jobs chosen: when they change, some jobs have.
type signs struct {
	event  uint64 // the number of the last event
	counts [7]int64
}

// heed notes what the feed shows of the jobs chosen, and whether it changed.
func (j *jobsTab) heed() {
	p := j.pic
	j.heeded = p.state
	now := signs{event: j.known.event}
	for i := len(p.state.Events) - 1; i >= 0; i-- {
		e := &p.state.Events[i]
		if e.Seq <= now.event {
			break
		}
		if e.Queue != "" && (j.queue == "" || e.Queue == j.queue) && e.What != watch.Renewed {
			now.event = e.Seq
			break
		}
	}
	for i := range p.state.Depths.Queues {
		d := &p.state.Depths.Queues[i]
		if j.queue != "" && d.Queue != j.queue {
			continue
		}
		completed := d.Completed
		if !d.CompletedExact {
			completed = 0
		}
		for k, n := range []int64{d.Ready, d.Scheduled, d.Processing, completed, d.Finished, d.Failed, d.Dead} {
			now.counts[k] += n
		}
	}
	if now != j.known {
		j.known = now
		j.changes++
	}
	j.leases = make(map[int64]*watch.Lease, len(p.state.Leases.List))
	for i := range p.state.Leases.List {
		j.leases[p.state.Leases.List[i].JobID] = &p.state.Leases.List[i]
	}
}

// outdated tells that the feed told of a change after some of what is in sight was read.
func (j *jobsTab) outdated() bool {
	return len(j.before(j.changes)) > 0 || j.list.top == 0 && j.above.next == nil && j.head < j.changes
}

// before are the rows in sight that were read before so many changes were known.
func (j *jobsTab) before(changes int) (ids []int64) {
	for _, row := range j.sight() {
		if row.changes < changes {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// trial is what reading again would try now.
func (j *jobsTab) trial() tried {
	t := tried{changes: j.changes}
	if j.list.top < len(j.jobs) {
		t.top = j.jobs[j.list.top].ID
	}
	return t
}

// Again has what is in sight read again at once, as after a change.
func (j *jobsTab) Again() {
	j.again = true
	j.changes++
}
