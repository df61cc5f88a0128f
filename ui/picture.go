package ui

import (
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// picture is everything the panes draw from, as of one moment. Its clock moves
// once a second and no oftener, so countdowns and ages move together and a
// frame in between changes only what really changed.
type picture struct {
	theme   *theme
	state   *watch.State
	workers []workers.Snapshot
	news    []workers.Event // what the workers told, oldest first
	fenced  uint64          // stale writes of our workers that changed nothing
	claims  string          // how long claims take, in words; "" when nothing was claimed
	ledger  *Ledger         // nil without a demonstration
	worst   time.Duration   // the latest reclaim after expiry seen; negative when none was
	alone   bool            // no workers run in this process
	now     time.Time       // the database's clock
	local   time.Time       // this machine's clock at the same moment
}

// staleAfter is how old a reading may be before it is marked, however long it is
// until the next one is due.
const staleAfter = 3 * time.Second

// stale reports whether a reading is too old to pass for the present, and how
// old it is.
func (p *picture) stale(read time.Time) (time.Duration, bool) {
	if read.IsZero() {
		return 0, false
	}
	old := p.local.Sub(read)
	return old, old > staleAfter
}

// leasesRead is when the leases were last known to be as shown: a stream that keeps
// up renews them between two polls.
func (p *picture) leasesRead() time.Time {
	read, stream := p.state.Leases.Read, p.state.WAL
	if stream.OK && stream.Lag < slow && stream.Heard.After(read) {
		return stream.Heard
	}
	return read
}

// oldNote is what a heading says about a stale reading, "" about a fresh one.
func (p *picture) oldNote(read time.Time) string {
	if old, stale := p.stale(read); stale {
		return "stale: read " + age(old) + " ago"
	}
	return ""
}

// holder is who holds a lease, in words.
type holder struct {
	name  string
	state workers.State // of a worker in this process; "" for others
}

// holder finds out who an owner is. Workers of this process go by their names,
// those of other leasetop processes by name and host, others by what they wrote.
func (p *picture) holder(owner string) holder {
	token, ok := queue.ParseToken(owner)
	if !ok {
		return holder{name: owner}
	}
	base := token.Process + "/" + token.Worker
	for _, w := range p.workers {
		if w.Owner == base {
			return holder{name: w.Name, state: w.State}
		}
	}
	return holder{name: token.Worker + "@" + host(token.Process)}
}

// host is the first part of a process's name.
func host(process string) string {
	for i := range len(process) {
		if process[i] == ':' {
			return process[:i]
		}
	}
	return process
}

// gone says in a word that a worker no longer looks after its jobs.
func (h holder) gone() string {
	switch h.state {
	case workers.Crashed, workers.Frozen, workers.Stopped:
		return string(h.state)
	}
	return ""
}

// unserved returns the queues with ready jobs that nobody is seen to take: no
// live worker of this process, and no lease of anybody else's.
func (p *picture) unserved() []watch.QueueDepth {
	if p.alone {
		return nil
	}
	var out []watch.QueueDepth
	for _, q := range p.state.Depths.Queues {
		if _, paused := p.state.Pauses.Of(q.Queue); q.Ready > 0 && !paused && !p.served(q.Queue) {
			out = append(out, q)
		}
	}
	return out
}

func (p *picture) served(name string) bool {
	for _, w := range p.workers {
		if (w.State == workers.Idle || w.State == workers.Busy) && slices.Contains(w.Queues, name) {
			return true
		}
	}
	for _, l := range p.state.Leases.List {
		if l.Queue == name && p.holder(l.Owner).state == "" {
			return true
		}
	}
	return false
}

// kindCell is what runs a job; without its queue where the column is too narrow
// for the full names of all rows.
func (t *theme) kindCell(queue, kind string, full int) cell {
	return cell{paint: func(w int) string {
		text := kindOf(queue, kind)
		if kind != "" && w < full {
			text = kind
		}
		return t.dim.draw(safe.Fit(text, w))
	}}
}

// kindOf names what runs a job: its kind, within its queue when that says more.
func kindOf(queue, kind string) string {
	if kind == "" || kind == queue {
		return queue
	}
	return queue + "/" + kind
}
