package queue

import (
	"sync"
	"time"
)

// A mark is where the live part of a queue's ready index begins. While some old
// snapshot is open, vacuum cannot remove the entries of claimed jobs from the
// head of that index and every claim walks over them (measured: 36 ms for
// 400,000 of them, 0.16 ms with a mark). So a claim looks only from the lowest
// job that the last claim found.
//
// Jobs can come to stand below the mark: a transaction that commits late, a
// backdated insert, a reclaimed or released job (it keeps its run_at). They are
// found by a full look, due every fullLookEvery or a hundred times what the last
// one took longer than a marked one, whichever is longer, but at most
// fullLookAtMost; and at once after [Queue.Forget].
type mark struct {
	mu         sync.Mutex
	from       position
	fullDue    time.Time // monotonic, as all times here
	forgot     bool      // somebody knows of jobs below the mark
	forgetDue  time.Time // when the next full look for their sake may begin
	fullCost   time.Duration
	markedCost time.Duration // of the last marked look: the round trip, mostly
	suspected  bool          // a job is said to be due; see suspect
}

// position is a place in the ready index.
type position struct {
	runAt Time
	id    int64
}

// start lies before every job.
var start = position{runAt: Time{Infinity: -1}, id: -1 << 63}

const (
	fullLookEvery = time.Second
	// A full look that was slow for another reason, a busy network or server, must
	// not put off the next for minutes.
	fullLookAtMost = 10 * time.Second
)

// look is one claim's way through the index.
type look struct {
	from position
	full bool
}

func (m *mark) begin() look {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	forgot := m.forgot && !now.Before(m.forgetDue)
	if now.Before(m.fullDue) && !forgot {
		return look{from: m.from}
	}
	if forgot {
		// Where full looks are slow, workers woken again and again spend a tenth of their time on them.
		m.forgetDue = now.Add(min(10*m.fullCost, fullLookEvery))
	}
	m.forgot = false
	// Others need not make the same full look while this one is on its way.
	m.fullDue = now.Add(fullLookEvery)
	return look{from: start, full: true}
}

// end learns from a look, also one that failed.
func (m *mark) end(l look, jobs []Job, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.full {
		m.fullCost = max(took-m.markedCost, 0)
		m.fullDue = time.Now().Add(min(max(fullLookEvery, 100*m.fullCost), fullLookAtMost))
	} else {
		m.markedCost = took
	}
	if len(jobs) > 0 {
		m.from = position{jobs[0].RunAt, jobs[0].ID}
	}
}

// suspect notes that a job of one of these queues is due. When the next full look finds
// none, it is locked, or a trigger leaves it as it is: then it is to be passed over, or
// nothing behind it would ever be found.
func (q *Queue) suspect(queues []string) {
	for _, queue := range queues {
		m := q.marks.of(queue)
		m.mu.Lock()
		m.suspected = true
		m.mu.Unlock()
	}
}

// doubt tells, once, whether a full look that found nothing should have found something.
func (m *mark) doubt() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	suspected := m.suspected
	m.suspected = false
	return suspected
}

// marks are the marks of all queues claimed from.
type marks struct{ byQueue sync.Map }

func (m *marks) of(queue string) *mark {
	if found, ok := m.byQueue.Load(queue); ok {
		return found.(*mark)
	}
	found, _ := m.byQueue.LoadOrStore(queue, &mark{from: start})
	return found.(*mark)
}

// Forget has the next claim from these queues look at every pending job again:
// something may have come to stand before where the last claims looked. Workers
// call it when they are woken.
func (q *Queue) Forget(queues ...string) {
	for _, queue := range queues {
		m := q.marks.of(queue)
		m.mu.Lock()
		m.forgot = true
		m.mu.Unlock()
	}
}
