package workers

import "time"

// What names what happened to a worker or in its hands.
type What string

// The events of the runtime. Those that the database also shows (claimed,
// completed …) are the feed's to tell; these are what only the worker knows.
const (
	Spawned     What = "spawned"        // a worker was added
	DrainBegun  What = "draining"       // it claims no more
	WorkerEnded What = "stopped"        // it drained and is gone
	Killed      What = "killed"         // it crashed on demand
	Froze       What = "frozen"         // it became a zombie on demand
	Thawed      What = "thawed"         // and is back at work
	LeaseLost   What = "lease lost"     // a heartbeat, or the reaper, found that the lease is gone
	StaleFenced What = "fenced"         // a late outcome matched no row and changed nothing
	TrustEnded  What = "trust ended"    // the database could not be reached in time; the handler was stopped
	Panicked    What = "panicked"       // the handler panicked; the job was buried
	ReapedBack  What = "reclaimed"      // the reaper gave an expired job back
	ReapedDead  What = "reclaimed dead" // the reaper buried an expired job with no attempts left
	RowRefused  What = "refused"        // the server refuses to change a job's row; Text says why, and the others go on
	Cancelled   What = "cancelled"      // somebody cancelled a job that was running here
	Purged      What = "purged"         // completed jobs older than Options.Retention were removed
	StuckFound  What = "stuck"          // a handler ignores its cancelled context
	Mishap      What = "mishap"         // a backoff, Options.Events, Settled or Logger, or the logger of Logging, panicked; work goes on
	DBTrouble   What = "database"       // claims, heartbeats … fail, or work again; Text says how
)

// Whats is every What there is.
var Whats = []What{
	Spawned, DrainBegun, WorkerEnded, Killed, Froze, Thawed, LeaseLost, StaleFenced, TrustEnded, Panicked,
	ReapedBack, ReapedDead, RowRefused, Cancelled, Purged, StuckFound, Mishap, DBTrouble,
}

// Event is one thing that the runtime did or met. Queue, Owner and Text may hold
// whatever the database holds: strip them before they reach a terminal.
type Event struct {
	Seq    uint64    // counts up from 1 within the pool
	At     time.Time // local clock
	Worker string    // "w3"; "" for the reaper and the runtime
	What   What
	JobID  int64 // 0 when it is about no single job
	Queue  string
	Owner  string        // for reclaims the owner that lost the lease; for lost leases who has the job now, if anybody
	Late   time.Duration // for reclaims: how long after expiry, by the database's clock
	// Watched is for reclaims: this pool's reaper has been at work since before the lease
	// ran out, without a break, and took it back at its first try, so that Late is its own.
	// It is not for a lease that ran out while the pool was not started, its process
	// suspended, the database away or RecoveryBound late with an answer, or the
	// machine asleep; nor for one that was locked, as by a transaction of its owner that a
	// partition keeps from its end.
	Watched bool
	Text    string // what else is to say, in words
}
