package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// What callers, and handlers by [context.Cause], tell apart.
var (
	// ErrTrustEnded cancels a handler whose lease could not be renewed in time.
	ErrTrustEnded = errors.New("lease no longer trusted: no heartbeat got through in time")
	// ErrDrained cancels a handler that a draining worker waited for in vain; its job is released.
	ErrDrained = errors.New("worker drained")
	// ErrCrashed cancels the handlers of a killed worker; what they return is dropped.
	ErrCrashed = errors.New("worker crashed")
	// ErrLeft is wrapped by the error of Stop: handlers ignored their cancelled
	// contexts, or outcomes could not be written.
	ErrLeft = errors.New("stopped with jobs left")
	// ErrStopped is returned for what a pool does not do once it is stopped.
	ErrStopped = errors.New("pool stopped")
	// ErrNoWorker says that the pool has no worker of that name.
	ErrNoWorker = errors.New("no such worker")
)

// Options of a pool. The zero value works.
type Options struct {
	Lease   time.Duration // how long a job is a worker's without a heartbeat; 0 is 30 s, less than 1 s is refused
	Margin  time.Duration // how long before its end a lease is not trusted any more; 0 is a tenth of it
	PollMin time.Duration // how soon an idle worker looks again; 0 is 100 ms
	PollMax time.Duration // and how seldom, in the end; 0 is 5 s. Notifications wake it at once
	// Grace is how long a drain may take; 0 is 30 s. Handlers have four fifths of
	// it (all but 2 s, when it is long) to finish. Then they are cancelled, and
	// have the rest to return.
	Grace time.Duration
	// Retention is how long completed jobs are kept; what is older leaves in short
	// batches, for all queues, by one process at a time. 0 keeps them. Dead letters
	// stay whatever it is.
	Retention time.Duration
	// Reaps are the queues whose leases the reaper takes back when they run out; nil is
	// every queue, whoever works it. A list of none is refused: it says neither.
	Reaps []string
	// Logger is told of each event, where it happens: its handler must not call the
	// pool, and a slow one holds all up. nil logs nothing.
	Logger *slog.Logger
	Events func(Event) // called for each event, one at a time, in order; it must not call Stop. nil for none
	// Settled is called for each outcome that was written, by the goroutine of its
	// handler, so by several at once: a slow one holds up its slot. It must not call
	// Stop. nil for none.
	Settled func(Settled)
}

func (o *Options) complete() error {
	for _, d := range []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{
		{"lease", &o.Lease, 30 * time.Second},
		{"margin", &o.Margin, 0},
		{"PollMin", &o.PollMin, 100 * time.Millisecond},
		{"PollMax", &o.PollMax, 5 * time.Second},
		{"grace", &o.Grace, 30 * time.Second},
		{"retention", &o.Retention, 0},
	} {
		if *d.value < 0 {
			return fmt.Errorf("a %s of %v: it must not be negative", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if o.Reaps != nil && len(o.Reaps) == 0 {
		return errors.New("reaps no queue: name those whose leases it takes back, or leave Reaps nil for all")
	}
	o.Reaps = slices.Clone(o.Reaps)
	o.PollMax = max(o.PollMax, o.PollMin)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// neededConns is the least a queue's pool may hold: one connection to claim, one
// for outcomes, one for the reaper. Heartbeats and LISTEN bring their own two.
const neededConns = 3

// neededForOthers is how many of them outcomes that are written alone leave to
// claims, completions and the reaper.
const neededForOthers = neededConns - 1

// Pool is the workers of this process and what they share; see the package
// comment. It is safe for concurrent use.
type Pool struct {
	q        *queue.Queue
	handlers *Handlers
	o        Options
	process  string        // the constant part of all tokens
	shortest time.Duration // the shortest lease set anywhere
	clock    func() time.Duration
	wall     func() time.Time

	life        life
	heart       heart
	vigil       vigil
	journal     journal
	troubles    troubles
	mishaps     mishaps
	latency     histogram
	completions completions
	places      chan struct{} // of outcomes that are written alone; see alone
	again       chan struct{} // the one of them whose row was locked that asks for a place
	signals     signals
	tick        chan struct{} // has the clock look again
	forced      chan struct{} // closed when a stop is forced

	mu       sync.Mutex
	base     context.Context // what handlers' contexts derive from; nil until Start
	workers  []*worker       // in the order of their spawning
	named    map[string]*worker
	spawned  int
	claims   uint64         // counts claim statements, for tokens
	turn     int            // where the search for a worker to wake begins
	holders  map[int64]*run // who holds a job's lease, as far as heartbeats go
	fenced   uint64         // stale writes that matched no row, of workers since removed too
	stopping bool
	behind   []*run // ended without an outcome, while their leases run
	left     error  // what Stop returns
}

// New makes a pool. It refuses, with the cure, handlers that make no sense, a
// lease too short for its heartbeats, and a connection pool that is too small: it
// needs three connections of the queue's, and makes two of its own. Nothing runs
// before Start.
func New(q *queue.Queue, h *Handlers, o Options) (*Pool, error) {
	if q == nil {
		return nil, errors.New("workers: no queue: open one with queue.Open or queue.New")
	}
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("workers: %w", err)
	}
	handlers, err := h.frozen()
	if err != nil {
		return nil, fmt.Errorf("workers: %w", err)
	}
	lengths := append(handlers.leases(), o.Lease)
	shortest := slices.Min(lengths)
	if err := o.checkLease(shortest); err != nil {
		return nil, fmt.Errorf("workers: %w", err)
	}
	if has := q.Pool().Config().MaxConns; has < neededConns {
		return nil, fmt.Errorf("workers: the connection pool is limited to %d, but %d are needed (claims, outcomes, reclaims), "+
			"besides 2 of the workers' own (heartbeats, LISTEN): raise pool_max_conns", has, neededConns)
	}
	p := &Pool{
		q: q, handlers: handlers, o: o,
		process: queue.NewProcess(), shortest: shortest,
		clock: bootClock, wall: wallClock, vigil: vigil{awake: monotonic},
		tick: make(chan struct{}, 1), forced: make(chan struct{}), again: make(chan struct{}, 1),
		holders: map[int64]*run{}, named: map[string]*worker{},
	}
	p.places = make(chan struct{}, max(1, q.Pool().Config().MaxConns-neededForOthers))
	p.heart.init(p)
	return p, nil
}

// Start begins work and returns at once, whether or not the server answers. The
// end of ctx drains the pool as [Pool.Stop] does; what ctx carries reaches the
// handlers, its end does not. A second Start does nothing; after a stop the error is
// [ErrStopped].
func (p *Pool) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return ErrStopped
	}
	if p.base != nil {
		return nil
	}
	p.base = context.WithoutCancel(ctx)
	if !p.life.start(ctx, p.serve) { // a Stop is about to say so
		p.base = nil
		p.neverBegin()
		return ErrStopped
	}
	for _, w := range p.workers {
		w.life.start(p.base, w.loop)
	}
	return nil
}

// serve runs the services until the pool is asked to stop, then drains.
func (p *Pool) serve(ctx context.Context) {
	var heart, clock, reaper, listener, retention, teller life
	heart.start(p.base, p.heart.serve)
	clock.start(p.base, p.keepTime)
	if !p.lacks(without.Reclaim) {
		reaper.start(p.base, p.reap)
	}
	listener.start(p.base, p.listen)
	if p.o.Retention > 0 {
		retention.start(p.base, p.retain)
	}
	if p.o.Events != nil {
		teller.start(p.base, p.tell)
	}
	<-ctx.Done()
	cause := context.Cause(ctx)
	retention.end(cause)
	p.drainAll()
	listener.end(cause) // not before: what still runs may be cancelled
	reaper.end(cause)
	clock.end(cause)
	heart.end(cause)
	for _, l := range []*life{&listener, &retention, &reaper, &clock, &heart} {
		<-l.ended()
	}
	teller.stop(cause)
}

// Stop drains all workers and waits: nobody claims any more, handlers get the
// grace period, what is left is cancelled and released. It returns nil when all
// came to their end, else an error that wraps [ErrLeft] and names the jobs whose
// handlers ignored their cancelled context, or whose outcomes could not be written;
// their leases run out by themselves.
// When it is called a second time, or ctx ends, handlers are cancelled at once.
func (p *Pool) Stop(ctx context.Context) error {
	if !p.life.end(ErrStopped) {
		p.force()
	}
	select {
	case <-p.life.ended():
	case <-ctx.Done():
		p.force()
		<-p.life.ended()
	}
	p.mu.Lock()
	if p.base == nil { // never started
		p.neverBegin()
	}
	p.mu.Unlock()
	return p.whatIsLeft()
}

// neverBegin ends a pool that was stopped before it was started. The lock is held.
func (p *Pool) neverBegin() {
	if p.stopping {
		return
	}
	p.stopping = true
	for _, w := range p.workers {
		w.life.end(ErrStopped)
		w.over = true
		w.refresh()
	}
}

// whatIsLeft is what Stop returns.
func (p *Pool) whatIsLeft() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// force has the handlers of a stop cancelled at once. Called before the pool is
// asked to stop it does nothing.
func (p *Pool) force() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.forced:
	default:
		close(p.forced)
	}
}

// Remove takes a worker that stopped or crashed off the list. The error wraps
// [ErrNoWorker], or says that the worker is at work.
func (p *Pool) Remove(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.find(name)
	if err != nil {
		return err
	}
	if w.state != Stopped && w.state != Crashed {
		return fmt.Errorf("remove %s: it is %s: drain or kill it first", name, w.state)
	}
	p.workers = slices.DeleteFunc(p.workers, func(other *worker) bool { return other == w })
	delete(p.named, name)
	p.journal.touch()
	return nil
}

// Workers returns all workers that were not removed, in the order of their spawning.
func (p *Pool) Workers() []Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Snapshot, len(p.workers))
	for i, w := range p.workers {
		out[i] = w.snapshot()
	}
	return out
}

// Fenced counts the stale writes that matched no row and changed nothing, of all
// the workers there ever were.
func (p *Pool) Fenced() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fenced
}

// ClaimLatency sums up the claims of the last minute.
func (p *Pool) ClaimLatency() Latency { return p.latency.sum(p.clock()) }

// find must be called with the lock held.
func (p *Pool) find(name string) (*worker, error) {
	if w := p.named[name]; w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNoWorker, name)
}
