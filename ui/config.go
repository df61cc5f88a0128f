package ui

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// Config is what the dashboard shows and acts on.
type Config struct {
	Feed    Feed    // what the queue is doing; required
	Jobs    Jobs    // the queue itself; required
	Workers Workers // the workers of this process; nil when the dashboard only watches
	Demo    Demo    // the demonstration; nil on anybody's own database

	Scenarios Scenarios // the failure stories; nil when none can be played
	Faults    Faults    // what can be broken on purpose; nil is nothing

	Origin string   // where the connection comes from: "local server", "DATABASE_URL"
	By     string   // who acts, as jobs and pauses remember it: "ann@laptop"
	Serves []string // the queues this process has handlers for; a new worker may take these

	Alerts Alerts // what is watched for; the zero value is nothing

	// Server reports the deaths of the private server; nil when there is none.
	Server <-chan ServerNews

	Tmux bool // the terminal is tmux's

	In  io.Reader // nil is standard input
	Out io.Writer // nil is standard output
}

// Feed is the live picture; *watch.Feed is one. State never waits. The channel
// of Changed is closed once a State newer than the given version is there. Reconcile
// compares its counts with the table, and may take a while.
type Feed interface {
	State() *watch.State
	Events(seq uint64) (events []watch.Event, missed uint64)
	Changed(version uint64) <-chan struct{}
	Refresh()
	Reconcile(ctx context.Context) (watch.Drift, error)
}

// Jobs reads single jobs and does what an operator asks for; *queue.Queue does. What
// changes jobs or queues is called within Logged, but for the plans, which enter themselves.
type Jobs interface {
	List(ctx context.Context, f queue.Filter, p queue.Page) (jobs []queue.Job, next *queue.Cursor, err error)
	ByID(ctx context.Context, ids ...int64) ([]queue.Job, error)
	Scan(ctx context.Context, f queue.Filter, s queue.Stretch) (queue.Found, error)
	Preview(ctx context.Context, id int64, characters int) (job *queue.Job, length int, err error)
	DeadLetters(ctx context.Context, where filter.Filter, s queue.DeadStretch) (queue.DeadFound, error)
	DeadGroups(ctx context.Context, where filter.Filter, look int) (queue.DeadGroups, error)
	Matching(ctx context.Context, f queue.Filter, told func(found, looked int)) ([]int64, error)
	Redrive(ctx context.Context, by string, ids ...int64) (queue.Done, error)
	Discard(ctx context.Context, by, why string, ids ...int64) (queue.Done, error)
	Restore(ctx context.Context, by string, ids ...int64) (queue.Done, error)
	Cancel(ctx context.Context, by string, ids ...int64) (queue.Cancelled, error)
	Pause(ctx context.Context, by, why string, queues ...string) (paused []string, err error)
	Resume(ctx context.Context, queues ...string) (resumed []string, err error)
	Plans
	OneJob
	Logged(ctx context.Context, act queue.Act, do func(context.Context) (done, skipped int, err error)) error
}

// OneJob is what the page of one job asks and does, and the operator log's.
type OneJob interface {
	WhyWaiting(ctx context.Context, id int64) (queue.Waiting, error)
	KeyHolder(ctx context.Context, queue, key string) (id int64, err error)
	RefusedJob(ctx context.Context, id int64) (*queue.Refused, error)
	Originals(ctx context.Context, id int64) ([]queue.Original, error)
	EditPayload(ctx context.Context, by string, e queue.Edit) (changed bool, err error)
	RunNow(ctx context.Context, by string, ids ...int64) (queue.Done, error)
	TakeBack(ctx context.Context, by string, lease queue.Lease) error
	Acts(ctx context.Context, before int64, limit int) ([]queue.Act, error)
	ArchivedByAct(ctx context.Context, act int64) ([]int64, error)
}

// Workers are the workers of this process, and those in processes of their own that it
// started; *faults.Crew is.
type Workers interface {
	Workers() []workers.Snapshot
	Events(after uint64) (events []workers.Event, last uint64)
	Changed() <-chan struct{}
	ClaimLatency() workers.Latency
	Fenced() uint64
	Recovery() workers.Recovery
	Spawn(queues []string, slots int) (name string, err error)
	SpawnProcess(ctx context.Context, queues []string, slots int) (name string, pid int, err error)
	Drain(name string) error
	Kill(name string) error
	Freeze(name string) error
	Remove(name string) error
}

// Faults are what can be broken on purpose; *faults.Damage is. Broken does not wait.
type Faults interface {
	Choices(ctx context.Context, worker string) []faults.Choice
	Start(ctx context.Context, name, worker string) (did string, err error)
	Broken() []faults.Broken
	Heal(ctx context.Context) (healed []string, err error)
}

// Demo is the demonstration behind the b and x keys.
type Demo interface {
	// Burst enqueues many jobs at once and returns how many.
	Burst(ctx context.Context) (jobs int, err error)
	// Poison enqueues a job that can only become a dead letter.
	Poison(ctx context.Context) (id int64, err error)
	// Ledger counts the effects that jobs had, and who ran them.
	Ledger(ctx context.Context) (Ledger, error)
}

// Ledger is what the demonstration's effects ledger says, and what was seen of its
// handlers in this process.
type Ledger struct {
	Unkept   bool          // nobody keeps one: Effects and Doubled say nothing
	Effects  int64         // effects of jobs, each meant to happen once
	Doubled  int64         // effects beyond the first of a job: must be 0
	Lost     int64         // completed jobs without an effect: must be 0
	Overlaps int64         // how often two handlers ran one job at a time: must be 0
	Overlap  time.Duration // for how long at most
	Lease    time.Duration // of the demonstration's jobs
	Others   bool          // leases were taken back by reapers of which nobody here knows how soon they were
}

// ServerNews says in one line what happened to the private server.
type ServerNews struct {
	Text string
	Down bool // it is still down: the line stays until the next news
}

// ioTimeout bounds every call that a key starts.
const ioTimeout = 15 * time.Second

func (c *Config) check() error {
	switch {
	case c.Feed == nil:
		return errors.New("dashboard: no feed to show")
	case c.Jobs == nil:
		return errors.New("dashboard: no queue to act on")
	}
	return nil
}
