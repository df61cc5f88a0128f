package workers

import "time"

// State is what a worker is doing.
type State string

// The states of a worker.
const (
	Idle     State = "idle"     // looking for work
	Busy     State = "busy"     // at least one slot runs a handler
	Draining State = "draining" // no new claims; running handlers may finish
	Frozen   State = "frozen"   // a zombie: handlers go on, heartbeats and outcomes do not
	Crashed  State = "crashed"  // abandoned without any clean-up, as the database sees a dead process
	Stopped  State = "stopped"  // drained and gone
)

// Snapshot is one worker as a value, for a screen to show.
type Snapshot struct {
	Name      string // "w3"; unique within the pool
	State     State
	Since     time.Time // local clock: when State began
	Queues    []string  // in strict order of preference
	Slots     int
	Running   []Running
	Claimed   uint64 // jobs
	Processed uint64 // handlers whose outcome was written: completed, retried, failed, buried or cancelled
	Completed uint64
	Failed    uint64 // retried, failed, buried and cancelled
	Lost      uint64 // leases lost: outcome refused, or trust deadline passed
	Fenced    uint64 // stale writes that matched no row
	Left      int    // jobs that a stop gave up: their leases run out by themselves
	Stuck     int    // handlers that ignored a cancelled context beyond the grace period
	Owner     string // host:pid:boot/w3, the constant part of its tokens
	Pid       int    // of its process, where that is another one than this; else 0
	LastError string // the last database error its claim loop met, "" when it recovered
}

// Running is one handler at work.
type Running struct {
	JobID   int64
	Queue   string
	Kind    string
	Attempt int       // from 1
	Since   time.Time // local clock: when it was claimed
	Trust   time.Time // local clock: when the worker stops trusting the lease if no heartbeat succeeds
	Expires time.Time // local clock: when the lease has run out for certain if none does
}
