package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// State is what the queue is doing, as one immutable value. Nothing in it is
// changed after it was published; the screen keeps the latest it was given.
// Every part says where it came from and when.
type State struct {
	Version uint64 // counts up with every published State

	Server Server
	Clock  Clock
	// Every is how long it may be from one reading of Depths and Leases to the next:
	// slow polls rest longer.
	Every time.Duration

	Depths  Depths
	Leases  Leases
	Pauses  Pauses
	Dead    Dead
	Traffic Traffic
	Health  Checkup

	Events  []Event // newest last, at most EventsKept; [Feed.Events] has more
	Notable []Event // those of Events, and before, that are not [Event.Routine]; newest last, at most EventsKept
	WAL     Link    // the replication stream: Events, and Depths and Leases while it stands
	Notify  Link    // the LISTEN connection that feeds Dead
	Polling Link    // the connection that reads what the stream does not carry, or everything
}

// EventsKept bounds State.Events and State.Notable.
const EventsKept = 500

// Server is where the State comes from.
type Server struct {
	Version  string // "15.18"
	User     string
	Host     string // host or socket folder; never a password
	Database string
	Schema   string
	ReadOnly bool // a standby, or default_transaction_read_only, or no UPDATE right on jobs
	// SchemaMissing says that the jobs table does not exist (yet); the cure is `leasetop migrate up`.
	SchemaMissing bool
	// SchemaOld says that the schema lacks something this program reads: an older release
	// made it. The cure is the same.
	SchemaOld bool
}

// Clock relates the database's clock to this machine's.
type Clock struct {
	Skew  time.Duration // database minus local, from the middle of the fastest round trip of late
	Known bool          // false before the first reading
}

// Now is the database's time at local time t.
func (c Clock) Now(local time.Time) time.Time { return local.Add(c.Skew) }

// Source says how a figure was learned.
type Source string

// The sources of State. Unknown means that nothing was learned yet.
const (
	Unknown Source = ""
	FromWAL Source = "wal"    // the replication stream
	Polled  Source = "poll"   // a query
	Notice  Source = "notify" // a query, after a notification
)

// Depths counts jobs by queue and status.
type Depths struct {
	// Source is FromWAL when the counts are kept by the stream: exact, but for Completed.
	Source Source
	At     time.Time // database clock up to which they are known
	Read   time.Time // local clock (monotonic) up to which they are known: age = time.Since(Read)
	Queues []QueueDepth
	// Cap is how far a poll counts at most; 0 when the stream does.
	Cap  int
	Note string // why that is less far than usual; "" when it is not
}

// QueueDepth is one queue's line. Counts of a capped reading are lower bounds.
type QueueDepth struct {
	queue.QueueDepth
	// Finished counts the jobs that were completed since the stream attached, exactly,
	// while Completed may be an estimate; 0 when polled.
	Finished int64
	Rates    Source // of Rate and the sparks; Unknown when the counts are lower bounds and there is no stream
	Rate     Rate   // jobs per second, over the last 10 s
	// Spark is jobs leaving per second, newest last, up to 60 one-second samples. A negative
	// sample is of a second that was not counted: there was no source then.
	Spark   []float64
	SparkIn []float64 // jobs entering per second, of the same seconds
}

// Rate is how many jobs a second did something.
type Rate struct {
	In        float64 // entered: enqueued, redriven
	Out       float64 // left: completed, failed, dead; or deleted before that
	Failed    float64 // tried in vain: retried, or given up
	Reclaimed float64 // taken from a worker that let its lease run out
	Dead      float64 // became dead letters
}

// Traffic is what goes on in all queues together. Only the stream tells it.
type Traffic struct {
	Source  Source    // Unknown when there is no stream
	Rate    Rate      // per second, over the last 10 s
	Spark   []float64 // as QueueDepth has them, also of queues that are gone
	SparkIn []float64
	Changes float64       // changes of rows per second, heartbeats too, over the last 10 s
	Window  time.Duration // how far back DeadPerMinute and Expired go: up to 10 minutes
	// DeadPerMinute is how many jobs became dead letters a minute, over Window.
	DeadPerMinute float64
	Expired       int64   // leases that ran out and were taken away, within Window
	Pickup        Latency // from due (run_at) to claimed, over the last minute
}

// Latency is a distribution of durations, to within an eighth of their size.
type Latency struct {
	Count    int64 // 0: nothing was measured
	P50, P99 time.Duration
}

// Leases are the jobs in processing, earliest expiry first.
type Leases struct {
	Source Source
	At     time.Time // database clock of the reading
	Read   time.Time // local clock (monotonic) of the reading
	Total  int       // all leases; may exceed len(List)
	Capped bool      // Total is a lower bound
	List   []Lease
	// Renewals counts the leases renewed that the feed saw since it began. The
	// renewals of one transaction and queue are one Event.
	Renewals uint64
}

// Lease is one job in processing.
type Lease struct {
	JobID       int64
	Queue       string
	Kind        string
	Attempts    int
	MaxAttempts int
	Owner       string    // locked_by as it stands in the row; see queue.ParseToken
	LockedAt    time.Time // database clock
	ExpiresAt   time.Time // database clock
	CancelledBy string    // who asked for the job to be cancelled, while its worker has not ended it; "" nobody
}

// Pauses are the queues from which leasetop's workers claim nothing.
type Pauses struct {
	Source Source
	Read   time.Time // local clock (monotonic) of the reading
	Reason string    // why they are not known, and the cure; "" when they are
	List   []queue.Pause
}

// Of returns the pause of a queue; ok is false when it is not paused.
func (p Pauses) Of(name string) (pause queue.Pause, ok bool) {
	i, ok := slices.BinarySearchFunc(p.List, name, func(p queue.Pause, name string) int { return cmp.Compare(p.Queue, name) })
	if !ok {
		return pause, false
	}
	return p.List[i], true
}

// Dead is the newest dead letters. Signal counts up whenever the dead channel
// spoke (or the connection was replaced), so a screen that shows another page
// of dead letters knows to read it again.
type Dead struct {
	Source Source
	At     time.Time // database clock of the reading
	Read   time.Time // local clock (monotonic) of the reading
	Signal uint64
	// Owed is since when (local clock, monotonic) a newer reading has been asked for, by a
	// signal or otherwise, that could not be made yet; zero when none is.
	Owed   time.Time
	Total  int64
	Capped bool        // Total is a lower bound
	Latest []queue.Job // newest death first, without payloads, at most 50
}

// Event is one thing that happened to a job, a queue or the feed, in an operator's words.
type Event struct {
	Seq     uint64    // counts up by one with every Event; a reader that skipped some sees a gap
	At      time.Time // database clock: the commit's time
	Source  Source
	JobID   int64 // 0 when it is about no single job
	Count   int   // how many jobs it is about; 0 for Health
	Queue   string
	Kind    string
	What    What
	Owner   string // the owner that holds, or lost, the lease; see queue.ParseToken
	Attempt int
	Note    string // what else is to say, e.g. "attempt 2 of 5, retry in 2m"
}

// OwnerLost tells whether the job ended by a reclaim: nobody who worked on it wrote that.
func (e *Event) OwnerLost() bool {
	return (e.What == Buried || e.What == Cancelled) && strings.HasSuffix(e.Note, ", "+workerLost)
}

// Routine tells whether it is a step of a job that goes well: these come by the
// hundred, and what is out of the ordinary must not be lost among them.
func (e *Event) Routine() bool {
	switch e.What {
	case Renewed:
		return true
	case Claimed, Completed: // but not when taken over from somebody, tried again, or cancelled in vain
		return e.Attempt <= 1 && !strings.HasSuffix(e.Note, tooLate)
	case Enqueued:
		return e.Count <= 1
	}
	return false
}

// What names what happened.
type What string

// What can happen to a job, or to a queue. Some are told apart by the row alone: from
// processing back to pending with a later run_at is a retry, with the same
// run_at after expiry a reclaim. Renewed is only counted, by Leases.
const (
	Enqueued  What = "enqueued"
	Claimed   What = "claimed"
	Renewed   What = "renewed"
	Completed What = "completed"
	Retried   What = "retried"
	Released  What = "released"
	Lost      What = "lost"      // taken over by another while it was in processing; its Claimed follows
	Reclaimed What = "reclaimed" // its lease ran out, and it waits again
	Failed    What = "failed"
	Buried    What = "buried"
	Redriven  What = "redriven"
	TakenBack What = "taken back" // redriven, and a dead letter again as it was: its plan was undone
	// CancelAsked is of a running job, whose worker is to end it; Cancelled is the end.
	CancelAsked What = "cancel asked"
	Cancelled   What = "cancelled"
	Paused      What = "paused"    // a queue
	Resumed     What = "resumed"   // a queue
	Edited      What = "edited"    // changed by somebody's SQL without moving on: rescheduled, moved to another queue
	Discarded   What = "discarded" // a dead letter, to the archive
	Restored    What = "restored"  // from the archive
	Deleted     What = "deleted"   // from the table, by a purge or somebody's SQL
	Truncated   What = "truncated"
	Health      What = "health" // the feed itself: a connection lost, replaced, refused
)

// Whats is every What there is.
var Whats = []What{
	Enqueued, Claimed, Renewed, Completed, Retried, Released, Lost, Reclaimed, Failed, Buried, Redriven, TakenBack,
	CancelAsked, Cancelled, Paused, Resumed, Edited, Discarded, Restored, Deleted, Truncated, Health,
}

// Link is one connection of the feed.
type Link struct {
	OK    bool
	Since time.Time // local clock of the last change of OK
	// Attaching says that it is being made and nothing has gone wrong with that: no cause
	// for alarm. Reason says how far it is.
	Attaching bool
	Reason    string        // why it is not OK, and the cure, in words; "" when OK
	Lag       time.Duration // how far behind, where it is known
	Heard     time.Time     // local clock of the last sign of life
}
