package watch

import (
	"math"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// ledger is every job that is not completed, kept by the stream: how many stand where
// is known without asking. A job it does not know is completed, or does not exist. One
// goroutine uses it.
//
// A waiting job costs some 60 bytes, a dead letter 40, and none of them is of interest
// to the garbage collector.
type ledger struct {
	index  map[int64]int32 // job → slot
	slots  [][]slot        // in pieces, so that growing copies nothing
	spare  []int32         // slots that are free
	used   int32
	leases map[int64]*row // of the jobs in processing

	queues  map[string]*tally
	numbers []*tally // by their number
	free    []int32  // numbers that are free

	digest digest
	now    int64 // the database's microseconds up to which waiting jobs were told ready from scheduled

	// gone counts completed jobs that left the table since the last settle. The stream
	// does not say of which queue they were.
	gone int64

	sampled bool // the completed jobs were estimated: a queue may have some that are not known
	moved   bool // a lease changed
	ended   bool // a dead letter came or went
	regroup bool // a queue came or went
}

// slot is what the ledger knows of a job.
type slot struct {
	queue int32 // its tally's number
	at    int32 // its place in the pile
	standing
}

const slotsPerPiece = 1 << 14

// tally is one queue's part of the ledger.
type tally struct {
	name   string
	hash   uint64
	number int32
	jobs   int64 // of all the counts below, but completed

	ready, scheduled         pile
	always                   int64
	processing, failed, dead int64

	completed int64 // may be estimated when the ledger is seeded; exact since, until some are deleted
	exact     bool  // completed is no estimate
	finished  int64 // jobs completed since the ledger was seeded
	news      moves // since the last look
	until     int64 // the database's microseconds up to which it is shown, also with nothing left
}

// moves counts what jobs did.
type moves struct{ in, out, failed, reclaimed, dead uint32 }

func newLedger() *ledger {
	return &ledger{index: map[int64]int32{}, leases: map[int64]*row{}, queues: map[string]*tally{}, regroup: true}
}

func (l *ledger) slot(i int32) *slot { return &l.slots[i/slotsPerPiece][i%slotsPerPiece] }

// place implements places.
func (l *ledger) place(slot, at int32) { l.slot(slot).at = at }

// tally returns a queue's, a new one for a name it does not know.
func (l *ledger) tally(name string) *tally {
	if t := l.queues[name]; t != nil {
		return t
	}
	t := &tally{name: name, hash: hashed(name), exact: !l.sampled}
	if n := len(l.free); n > 0 {
		t.number, l.free = l.free[n-1], l.free[:n-1]
		l.numbers[t.number] = t
	} else {
		t.number = int32(len(l.numbers))
		l.numbers = append(l.numbers, t)
	}
	l.queues[name], l.regroup = t, true
	return t
}

// forget drops a queue that has no jobs.
func (l *ledger) forget(t *tally) {
	delete(l.queues, t.name)
	l.numbers[t.number] = nil
	l.free = append(l.free, t.number)
}

// jobs is how many it holds.
func (l *ledger) jobs() int { return len(l.index) }

// old puts what is known of a job into r, and reports whether it stands anywhere. What
// is not known of a waiting job or a dead letter is as in now: it makes no difference.
func (l *ledger) old(id int64, now, r *row) bool {
	i, ok := l.index[id]
	if !ok {
		return false
	}
	s := l.slot(i)
	if s.standing == processing {
		*r = *l.leases[id]
		return true
	}
	if now != nil {
		*r = *now
	} else {
		*r = row{}
	}
	t := l.numbers[s.queue]
	r.id, r.queue, r.status = id, t.name, statuses[s.standing]
	r.owner, r.lockedAt, r.expiresAt = "", time.Time{}, time.Time{}
	switch s.standing {
	case ready:
		r.runAt = timeOf(t.ready[s.at].due)
	case scheduled:
		r.runAt = timeOf(t.scheduled[s.at].due)
	case always:
		r.runAt = queue.Time{Infinity: -1}
	}
	return true
}

// put lets a job stand where a row says, wherever it stood before. It keeps r when it
// is a lease, and nothing of it otherwise.
func (l *ledger) put(r *row) {
	due := dueOf(r.runAt)
	to := standingOf(r.status, due, l.now)
	i, known := l.index[r.id]
	if known {
		if s := l.slot(i); s.standing == processing && to == processing && l.numbers[s.queue].name == r.queue { // a heartbeat
			t := l.numbers[s.queue]
			l.digest.leased(t.hash, l.leases[r.id], -1)
			l.digest.leased(t.hash, r, 1)
			l.leases[r.id], l.moved = r, true
			return
		}
		l.take(r.id, i)
	}
	if to == nowhere {
		if known {
			l.release(r.id, i)
		}
		return
	}
	if !known {
		i = l.newSlot()
		l.index[r.id] = i
	}
	l.stand(i, l.tally(r.queue), r.id, to, due)
	if to == processing {
		l.digest.leased(l.numbers[l.slot(i).queue].hash, r, 1)
		l.leases[r.id], l.moved = r, true
	}
}

// stand puts a slot's job into a queue's counts. A lease is for the caller to keep.
func (l *ledger) stand(i int32, t *tally, id int64, to standing, due int64) {
	*l.slot(i) = slot{queue: t.number, standing: to}
	t.jobs++
	l.digest.count(to, 1)
	switch to {
	case ready:
		t.ready.push(piled{due, i}, l)
		l.digest.waiting(t.hash, id, due, 1)
	case scheduled:
		t.scheduled.push(piled{due, i}, l)
		l.digest.waiting(t.hash, id, due, 1)
	case always:
		t.always++
		l.digest.waiting(t.hash, id, due, 1)
	case processing:
		t.processing++
	case failed:
		t.failed++
		l.ended = true
		l.digest.ended(t.hash, id, to, 1)
	case dead:
		t.dead++
		l.ended = true
		l.digest.ended(t.hash, id, to, 1)
	}
}

// take removes a slot's job from its queue's counts. The slot and the index stay.
func (l *ledger) take(id int64, i int32) {
	s := l.slot(i)
	t := l.numbers[s.queue]
	t.jobs--
	l.digest.count(s.standing, -1)
	switch s.standing {
	case ready:
		l.digest.waiting(t.hash, id, t.ready.remove(s.at, l).due, -1)
	case scheduled:
		l.digest.waiting(t.hash, id, t.scheduled.remove(s.at, l).due, -1)
	case always:
		t.always--
		l.digest.waiting(t.hash, id, math.MinInt64, -1)
	case processing:
		t.processing--
		l.digest.leased(t.hash, l.leases[id], -1)
		delete(l.leases, id)
		l.moved = true
	case failed:
		t.failed--
		l.ended = true
		l.digest.ended(t.hash, id, s.standing, -1)
	case dead:
		t.dead--
		l.ended = true
		l.digest.ended(t.hash, id, s.standing, -1)
	}
}

// drop forgets a job, and reports whether it was known.
func (l *ledger) drop(id int64) bool {
	i, known := l.index[id]
	if known {
		l.take(id, i)
		l.release(id, i)
	}
	return known
}

func (l *ledger) newSlot() int32 {
	if n := len(l.spare); n > 0 {
		i := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return i
	}
	if int(l.used)/slotsPerPiece == len(l.slots) {
		l.slots = append(l.slots, make([]slot, slotsPerPiece))
	}
	l.used++
	return l.used - 1
}

func (l *ledger) release(id int64, i int32) {
	delete(l.index, id)
	l.spare = append(l.spare, i)
}

// clear is a TRUNCATE: nothing is left, and that is known exactly.
func (l *ledger) clear() {
	now, queues := l.now, l.queues
	*l = *newLedger()
	l.now, l.moved, l.ended = now, true, true
	for name, t := range queues { // what they did meanwhile is still to be told
		n := l.tally(name)
		n.finished, n.news = t.finished, t.news
	}
}

// setBack is how far, in microseconds, the database's clock must have gone back to be
// taken for set back. By less, it was only estimated wrongly.
const setBack = 1_000_000

// tick moves the ledger's clock to the database's time: jobs that are due by now are
// ready. A clock that was set back makes some of them scheduled again.
func (l *ledger) tick(now int64) {
	back := now < l.now-setBack
	if now < l.now && !back {
		return
	}
	l.now = now
	for _, t := range l.numbers {
		if t == nil {
			continue
		}
		for len(t.scheduled) > 0 && t.scheduled[0].due <= now {
			e := t.scheduled.remove(0, l)
			l.slot(e.slot).standing = ready
			t.ready.push(e, l)
		}
		if !back {
			continue
		}
		early := t.ready
		t.ready = nil
		for _, e := range early {
			if e.due > now {
				l.slot(e.slot).standing = scheduled
				t.scheduled.push(e, l)
			} else {
				t.ready.push(e, l)
			}
		}
	}
}

// nextDue is when the first scheduled job is due; math.MaxInt64 without one.
func (l *ledger) nextDue() int64 {
	next := int64(math.MaxInt64)
	for _, t := range l.numbers {
		if t != nil && len(t.scheduled) > 0 {
			next = min(next, t.scheduled[0].due)
		}
	}
	return next
}

// settle takes the completed jobs that left the table from the queues they may have
// been of, in proportion. Their sum is as exact as before; where several queues have
// some, each is an estimate now.
func (l *ledger) settle() {
	if l.gone == 0 {
		return
	}
	left, several := int64(0), -1
	for _, t := range l.queues {
		left += t.completed
		several += int(min(t.completed, 1))
	}
	gone := min(l.gone, left)
	l.gone = 0
	for _, t := range l.queues {
		if t.completed == 0 {
			continue
		}
		share := min(int64(math.Round(float64(gone)*float64(t.completed)/float64(left))), t.completed)
		gone, left = gone-share, left-t.completed
		t.completed -= share
		t.exact = t.exact && several == 0
	}
}

// loosen says that no count of completed jobs is exact: one of them may have moved to
// another queue.
func (l *ledger) loosen() {
	for _, t := range l.queues {
		t.exact = false
	}
}
