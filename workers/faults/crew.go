package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Crew is the workers of one program: those of a pool in this process, and those in
// processes of their own that it starts. It is ordered about as a pool is, by their names.
// It is safe for concurrent use.
type Crew struct {
	*workers.Pool // in this process

	q        *queue.Queue
	handlers string
	o        workers.Options
	news     news
	over     chan struct{} // closed by Stop
	ends     sync.WaitGroup

	mu       sync.Mutex
	relay    *Relay // nil before the first process
	children []*child
	spawned  int
	fenced   uint64 // by processes that were taken off the list
	stopped  bool
}

// child is a worker in a process of its own.
type child struct {
	*Process
	thaws *time.Timer // nil while it was never suspended
	ended bool        // by a signal that was asked for
}

// NewCrew makes a crew with a pool of its own. Worker processes run the handlers that were
// given that name by [Register], over connections that lead through a [Relay], and so
// through the same [Cable] as the queue's own, and with the same options, but for
// callbacks and retention. Start it with [Crew.Start], end it with [Crew.Stop].
func NewCrew(q *queue.Queue, handlers *workers.Handlers, named string, o workers.Options) (*Crew, error) {
	c := &Crew{q: q, handlers: named, o: o, over: make(chan struct{})}
	hears := o.Events
	o.Events = func(e workers.Event) {
		if hears != nil {
			hears(e)
		}
		c.news.add(e)
	}
	var err error
	c.Pool, err = workers.New(q, handlers, o)
	return c, err
}

// Start begins work, as [workers.Pool.Start] does.
func (c *Crew) Start(ctx context.Context) error {
	if err := c.Pool.Start(ctx); err != nil {
		return err
	}
	c.ends.Go(func() { c.follow(c.Pool.Changed, c.over) })
	return nil
}

// follow tells of changes, until over is closed.
func (c *Crew) follow(changed func() <-chan struct{}, over <-chan struct{}) {
	for next := changed(); ; {
		select {
		case <-next:
			next = changed() // before it is told: what comes then is told again
			c.news.touch()
		case <-over:
			c.news.touch()
			return
		}
	}
}

// SpawnProcess adds a worker in a process of its own, as [workers.Pool.Spawn] adds one
// here. It returns its name, p1, p2 and so on, and the number of its process, once it
// looks for jobs. It ends with this process, however that ends.
func (c *Crew) SpawnProcess(ctx context.Context, queues []string, slots int) (name string, pid int, err error) {
	c.mu.Lock()
	c.spawned++
	name = "p" + strconv.Itoa(c.spawned)
	c.mu.Unlock()
	o, err := c.processOptions(name, queues, slots)
	if err != nil {
		return "", 0, fmt.Errorf("start worker process %s: %w", name, err)
	}
	p, err := StartProcess(ctx, o)
	if err != nil {
		return "", 0, err
	}
	if !c.join(&child{Process: p}) {
		p.Close()
		return "", 0, fmt.Errorf("start worker process %s: %w", name, workers.ErrStopped)
	}
	c.news.touch()
	return name, p.Pid(), nil
}

// processOptions are those of a worker process of the crew. It has a pool of its own, which
// need not have a second retention, and finds the database behind the relay.
func (c *Crew) processOptions(name string, queues []string, slots int) (ProcessOptions, error) {
	url, err := c.way()
	return ProcessOptions{
		URL: url, Schema: c.q.Schema().Name(), Name: name, Queues: queues, Slots: slots, Handlers: c.handlers, Reaps: c.o.Reaps,
		Lease: c.o.Lease, Margin: c.o.Margin, PollMin: c.o.PollMin, PollMax: c.o.PollMax, Grace: c.o.Grace, Events: c.news.add,
	}, err
}

// way is where worker processes find the database: at a relay, which is made for the first
// of them, and leads wherever the queue's own connections do.
func (c *Crew) way() (url string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return "", workers.ErrStopped
	}
	if c.relay == nil {
		if c.relay, err = NewRelay(c.q.Pool().Config().ConnConfig, nil); err != nil {
			return "", err
		}
	}
	return c.relay.URL(), nil
}

// join makes a process one of the crew, unless that was stopped.
func (c *Crew) join(one *child) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	c.children = append(c.children, one)
	c.ends.Go(func() {
		c.follow(one.Changed, one.Done())
		c.gone(one)
	})
	return true
}

// gone tells of a process that ended as nobody here asked it to.
func (c *Crew) gone(one *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.thaws != nil {
		one.thaws.Stop()
	}
	if err := one.Err(); err != nil && !one.ended {
		c.tell(one, workers.Killed, err.Error())
	}
}

// named is the worker process of that name; nil when there is none. The lock is held.
func (c *Crew) named(name string) *child {
	for _, one := range c.children {
		if one.Name() == name {
			return one
		}
	}
	return nil
}

// child is the worker process of that name; nil when there is none. What is done to a
// worker of this process may wait for the database, and must not keep the lock meanwhile.
func (c *Crew) child(name string) *child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.named(name)
}

// AppNames are the application names of the workers' connections.
func (c *Crew) AppNames() []string {
	names := []string{c.q.ConnConfig().RuntimeParams["application_name"]}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.children {
		names = append(names, one.AppName())
	}
	return names
}

// Workers are all there are: first those in this process. A process that was killed is
// listed with the jobs whose leases still run.
func (c *Crew) Workers() []workers.Snapshot {
	all := c.Pool.Workers()
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, one := range c.children {
		for _, w := range one.Snapshot() {
			if w.State == workers.Crashed {
				w.Running = slices.DeleteFunc(slices.Clone(w.Running), func(r workers.Running) bool { return r.Expires.Before(now) })
			}
			all = append(all, w)
		}
	}
	return all
}

// Fenced counts the stale writes that changed nothing, of all the workers there ever were.
func (c *Crew) Fenced() uint64 {
	n := c.Pool.Fenced()
	c.mu.Lock()
	defer c.mu.Unlock()
	n += c.fenced
	for _, one := range c.children {
		n += fencedBy(one)
	}
	return n
}

func fencedBy(one *child) (n uint64) {
	for _, w := range one.Snapshot() {
		n += w.Fenced
	}
	return n
}

// Events is [workers.Pool.Events] for all workers there are.
func (c *Crew) Events(after uint64) (events []workers.Event, last uint64) { return c.news.after(after) }

// Recovery sums up what all reapers of the crew took back, those of processes that are
// gone too.
func (c *Crew) Recovery() workers.Recovery { return c.news.recovery() }

// Changed is [workers.Pool.Changed] for all workers there are.
func (c *Crew) Changed() <-chan struct{} { return c.news.change() }

// Remove takes a worker that stopped or crashed off the list.
func (c *Crew) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.named(name)
	if one == nil {
		return c.Pool.Remove(name)
	}
	select {
	case <-one.Done():
	default:
		return fmt.Errorf("remove %s: its process runs: drain or kill it first", name)
	}
	c.fenced += fencedBy(one)
	c.children = slices.DeleteFunc(c.children, func(other *child) bool { return other == one })
	c.news.touch()
	return nil
}

// Stop drains all workers, as [workers.Pool.Stop] does. Processes whose handlers are not
// done when ctx ends release their jobs; those that do not end by then are killed.
func (c *Crew) Stop(ctx context.Context) error {
	c.mu.Lock()
	children := slices.Clone(c.children)
	first := !c.stopped
	c.stopped = true
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, one := range children {
		all.Go(func() { one.farewell(ctx) })
	}
	err := c.Pool.Stop(ctx)
	all.Wait()
	if first {
		close(c.over)
	}
	c.ends.Wait()
	if c.relay != nil { // there is none to come any more
		c.relay.Close()
	}
	return err
}

const (
	// again is the soonest that a second signal is not taken for the first.
	again = 700 * time.Millisecond
	// lastGrace is how long a process may take to release what it runs.
	lastGrace = 2 * time.Second
)

// farewell ends a process in order: drained, then forced, then killed.
func (one *child) farewell(ctx context.Context) {
	soonest := time.NewTimer(again)
	defer soonest.Stop()
	if errors.Join(one.Resume(), one.Drain()) == nil {
		select {
		case <-one.Done():
			return
		case <-ctx.Done():
		}
		<-soonest.C
		_ = one.Drain() // the second one forces
		last := time.NewTimer(lastGrace)
		defer last.Stop()
		select {
		case <-one.Done():
		case <-last.C:
		}
	}
	one.Close()
}
