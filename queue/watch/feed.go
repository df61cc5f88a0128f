package watch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// publishEvery bounds how often a new State is published. The first change after a
// quiet moment is published at once.
const publishEvery = 50 * time.Millisecond

// Options of [Start]. The zero value works.
type Options struct {
	// Poll is how long the feed rests between two readings at least; 0 is 500 ms.
	// A negative Poll reads only at the start and on [Feed.Refresh].
	Poll time.Duration
	// NoWAL leaves the replication stream off: counts are polled, and events come from
	// the differences of polls.
	NoWAL bool
	// MostJobs is how many jobs that are not completed the stream keeps count of, at some
	// 60 bytes each. Where there are more, they are polled. 0 is 3,000,000.
	MostJobs int

	// seeding, when tests set it, is called while the stream is being attached.
	seeding func(context.Context)
}

const mostJobs = 3_000_000

// Feed watches one queue. It is safe for concurrent use.
type Feed struct {
	q      *queue.Queue
	reader *queue.Queue // what polls and re-readings use; see read
	opts   Options
	slots  string // what the names of our replication slots begin with
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	latest atomic.Pointer[State]

	mu      sync.Mutex    // guards what follows
	next    chan struct{} // closed by the next publication
	draft   State         // what will be published; slices in it are replaced, never changed
	events  eventLog      // the tail of it is State.Events
	notes   eventLog      // the tail of it is State.Notable
	seq     uint64        // of the last event
	rates   *rates
	skew    skew
	marks   marks
	streams uint64            // how many there have been; see poll
	seeding bool              // one reads its snapshot, and will tell what happens meanwhile
	told    map[Source]string // why links were lost, as Events has it

	renewals   uint64 // see Leases.Renewals
	dead       int64  // how many dead letters the source of Depths counts, -1 when they are not known
	deadCapped bool   // or more
	limit      string // statement_timeout of the readings, as PostgreSQL says it; "" behind a pooler

	current atomic.Pointer[stream] // what the stream's reader follows now
	trail   atomic.Pointer[trail]  // of the comparison under way

	reading   chan struct{} // held by the one reading under way
	dirty     chan struct{}
	pollNow   chan struct{} // read without a rest
	readDead  chan struct{}
	pausesNow chan struct{}
	healthNow chan struct{}
	retryWAL  chan struct{}
	retryDead chan struct{}
}

// Start watches q until ctx ends or Close is called, over connections of its own. It
// never fails and does not wait for the database: what is wrong, and the cure, is in
// State.
func Start(ctx context.Context, q *queue.Queue, opts Options) *Feed {
	if opts.Poll == 0 {
		opts.Poll = 500 * time.Millisecond
	}
	if opts.MostJobs == 0 {
		opts.MostJobs = mostJobs
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &Feed{
		q: q, opts: opts, cancel: cancel, slots: slotNames(),
		events: eventLog{kept: 20_000}, notes: eventLog{kept: EventsKept},
		next: make(chan struct{}), rates: newRates(time.Now()), told: map[Source]string{}, dead: -1,
		reading: signal(), dirty: signal(), pollNow: signal(),
		readDead: signal(), pausesNow: signal(), healthNow: signal(), retryWAL: signal(), retryDead: signal(),
	}
	now := time.Now()
	connecting := Link{Since: now, Attaching: true, Reason: "connecting"}
	f.draft.WAL, f.draft.Notify, f.draft.Polling = connecting, connecting, connecting
	if opts.NoWAL {
		f.draft.WAL.Reason, f.draft.WAL.Attaching = switchedOff, false
	}
	f.draft.Server = Server{Host: q.ConnConfig().Host, Database: q.ConnConfig().Database, User: q.ConnConfig().User, Schema: q.Schema().Name()}
	f.publish()

	reader, err := f.openReader()
	if err != nil { // the pool it is copied from works, so this one does
		f.down(Polled, say(err))
		f.publish()
		return f
	}
	f.reader = reader
	f.tasks.Go(func() { f.publishing(ctx) })
	f.tasks.Go(func() { f.polling(ctx) })
	f.tasks.Go(func() { f.listening(ctx) })
	f.tasks.Go(func() { f.readingDead(ctx) })
	f.tasks.Go(func() { f.readingPauses(ctx) })
	f.tasks.Go(func() { f.readingHealth(ctx) })
	if !opts.NoWAL {
		f.tasks.Go(func() { f.streaming(ctx) })
		f.tasks.Go(func() { f.reconciling(ctx) })
	}
	f.tasks.Go(func() {
		<-ctx.Done()
		closed := make(chan struct{})
		go func() {
			f.reader.Pool().Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(hangUpDeadline): // the network is stalled: pgx goes on a while
		}
	})
	return f
}

// Close ends the feed, waits for all it started and gives its connections and its
// replication slot back. It may be called twice.
func (f *Feed) Close() {
	f.cancel()
	f.tasks.Wait()
}

// State is the latest value; never nil.
func (f *Feed) State() *State { return f.latest.Load() }

// Changed returns a channel that is closed once there is a State newer than version:
// that of the State which the caller has. New ones come every 50 ms at most.
func (f *Feed) Changed(version uint64) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.latest.Load().Version > version {
		done := make(chan struct{})
		close(done)
		return done
	}
	return f.next
}

// Refresh asks for a reading now, for instance after the operator did something.
func (f *Feed) Refresh() {
	poke(f.pollNow)
	poke(f.readDead)
	poke(f.healthNow)
}

// change changes what will be published.
func (f *Feed) change(do func()) {
	f.note(do)
	poke(f.dirty)
}

// note is change for what nobody waits for: it is published with the next change.
func (f *Feed) note(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *Feed) publishing(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.dirty:
		}
		f.publish()
		if !rest(ctx, publishEvery, nil) {
			return
		}
	}
}

func (f *Feed) publish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draft.Version++
	f.draft.Clock = f.skew.clock()
	f.draft.Events, f.draft.Notable = f.events.last(EventsKept), f.notes.last(EventsKept)
	state := f.draft
	if state.Depths.Source != Unknown {
		state.Depths.Queues = withPaused(state.Depths.Queues, state.Pauses.List)
	}
	f.latest.Store(&state)
	close(f.next)
	f.next = make(chan struct{})
}

// happened appends events. Call it within change.
func (f *Feed) happened(events ...Event) {
	for _, e := range events {
		f.seq++
		e.Seq = f.seq
		f.events.add(e)
		if !e.Routine() {
			f.notes.add(e)
		}
	}
}

// Events returns what happened after the event with the number seq, oldest first, as
// far as it is kept (the last 20,000 at least), and how many events between are not.
func (f *Feed) Events(seq uint64) (events []Event, missed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events = f.events.after(seq)
	return events, f.seq - min(f.seq, seq) - uint64(len(events))
}

// signal is a channel for poke.
func signal() chan struct{} { return make(chan struct{}, 1) }

// poke leaves a signal, if there is not one already.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// rest waits for d, or less when wake says so. It returns false when ctx ended.
func rest(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return ctx.Err() == nil
}
