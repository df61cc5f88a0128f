package workers

import (
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// worker is a claim loop with slots. Its fields below life are guarded by the
// pool's lock.
type worker struct {
	pool   *Pool
	name   string
	queues []string // in strict order of preference
	slots  int
	signal chan struct{} // has the loop look again: woken, a slot free, another state
	gone   chan struct{} // closed once the worker writes nothing any more
	life   life

	state    State
	since    time.Time // wall clock, for screens
	draining bool
	leaving  chan struct{} // closed when it drains
	over     bool          // its loop came to its end
	crashed  bool          // killed
	dropped  bool          // gone is closed
	thawed   chan struct{} // not nil while frozen; closed when it thaws
	thawAt   time.Duration // boot clock; 0 until the leases it froze with are known

	runs  []*run          // slots in use
	aside int             // how many of the runs need none: see run.aside
	woken map[string]bool // queues it was woken for and has not looked at yet

	inflight int           // its statements on the way
	quiet    chan struct{} // closed when inflight falls to 0; nil while nobody waits

	claimed, processed, completed, failed, lost, fenced uint64
	left                                                int
	lastError                                           string
}

func newWorker(p *Pool, name string, queues []string, slots int) *worker {
	return &worker{
		pool: p, name: name, queues: queues, slots: slots,
		signal: make(chan struct{}, 1), gone: make(chan struct{}), leaving: make(chan struct{}),
		state: Idle, since: p.wall(), woken: map[string]bool{},
	}
}

// refresh brings state up to date after any of what it is made from changed.
func (w *worker) refresh() {
	state := Idle
	switch {
	case w.crashed:
		state = Crashed
	case w.over:
		state = Stopped
	case w.thawed != nil:
		state = Frozen
	case w.draining:
		state = Draining
	case len(w.runs) > 0:
		state = Busy
	}
	if state != w.state {
		w.state, w.since = state, w.pool.wall()
	}
	w.pool.journal.touch()
}

// poke has the loop look again.
func (w *worker) poke() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// free is the number of slots without a job.
func (w *worker) free() int { return w.slots - len(w.runs) + w.aside }

// claiming reports whether the worker takes new work.
func (w *worker) claiming() bool {
	return !w.draining && !w.dropped && !w.over && w.thawed == nil
}

// begin must be called before each statement of this worker, and end after it if
// begin said yes. It waits while the worker is frozen, and says no once the
// worker is gone: from then on no statement of its leaves this process.
func (w *worker) begin() bool {
	for {
		w.pool.mu.Lock()
		if w.dropped {
			w.pool.mu.Unlock()
			return false
		}
		thawed := w.thawed
		if thawed == nil {
			w.inflight++
			w.pool.mu.Unlock()
			return true
		}
		w.pool.mu.Unlock()
		select {
		case <-thawed:
		case <-w.gone:
		}
	}
}

func (w *worker) end() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.landed()
}

// landed is end with the lock held.
func (w *worker) landed() {
	w.inflight--
	if w.inflight == 0 && w.quiet != nil {
		close(w.quiet)
		w.quiet = nil
	}
}

// hushPatience is how long a fault waits for statements that were sent before it.
const hushPatience = time.Second

// hush waits until the statements that were on the way have been answered, so
// that nothing of them changes a row after Kill or Freeze returned. It does not
// wait long: a statement that is lost in the network is not this worker's any more.
func (w *worker) hush() {
	w.pool.mu.Lock()
	if w.inflight == 0 {
		w.pool.mu.Unlock()
		return
	}
	if w.quiet == nil {
		w.quiet = make(chan struct{})
	}
	quiet := w.quiet
	w.pool.mu.Unlock()
	timer := time.NewTimer(hushPatience)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C:
	}
}

// drop ends all writing of the worker. The lock is held.
func (w *worker) drop() {
	if !w.dropped {
		w.dropped = true
		close(w.gone)
		for _, r := range w.runs {
			r.letGo()
		}
	}
}

// owner is the constant part of the worker's tokens.
func (w *worker) owner() string { return w.pool.process + "/" + w.name }

// nextToken names the next claim statement. The claims of a pool are counted together,
// for a worker may get the name of one that was removed.
func (w *worker) nextToken() string {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lacks(without.Fencing) {
		return anybody
	}
	p.claims++
	return queue.Token{Process: p.process, Worker: w.name, Claim: p.claims}.String()
}

func (w *worker) snapshot() Snapshot {
	s := Snapshot{
		Name: w.name, State: w.state, Since: w.since, Queues: slices.Clone(w.queues), Slots: w.slots,
		Claimed: w.claimed, Processed: w.processed, Completed: w.completed, Failed: w.failed,
		Lost: w.lost, Fenced: w.fenced, Left: w.left,
		Owner: w.owner(), LastError: w.lastError,
	}
	now, wall := w.pool.clock(), w.pool.wall()
	for _, r := range w.runs {
		if r.aside {
			continue
		}
		s.Running = append(s.Running, Running{
			JobID: r.job.ID, Queue: r.job.Queue, Kind: r.job.Kind, Attempt: r.job.Attempts,
			Since: r.since, Trust: wall.Add(r.trust - now), Expires: wall.Add(r.sure - now),
		})
		if r.stuck {
			s.Stuck++
		}
	}
	return s
}
