// Package workers runs the jobs of a queue: the runtime as a library.
//
// # Pool and worker
//
// A [Pool] is this process's share of the work. It owns workers, and what they
// have in common: one connection for heartbeats, one for LISTEN, a reaper and a
// clock. A worker is a claim loop with a number of slots; each slot runs one
// handler at a time, chosen by the job's kind, else by its queue.
//
//	Spawn ─► idle ◄── claims, outcomes ──► busy
//	          └──────────────┬─────────────┘
//	                         ├─ Freeze ─► frozen ─ thaws by itself ─► idle or busy
//	                         ├─ Drain, Stop ─► draining ─ nothing left ─► stopped
//	                         └─ Kill (from any state but stopped) ─► crashed
//
// Stopped and crashed workers stay listed until [Pool.Remove].
//
//	New ─► Start ─► at work ─ Stop, or the end of Start's context ─► draining ─► over
//
// Start returns at once, also when the server is down: nothing is claimed until
// the heartbeat connection stands. Stop waits; called twice it forces. [Pool.Run] is
// Start, then Stop at SIGTERM or Ctrl-C, for programs that do nothing else.
//
// # Handlers
//
// [Handlers] says which handler does which job: by kind, else by queue. A [Handler] is a
// function of a context and a job; [Typed] makes one of a function that takes the
// payload decoded. Around it stands middleware, the first outermost, then what is inside:
//
//	Handlers.Use ─► WithMiddleware ─► Typed ─► your function
//
// [Logging], [Recover] and [Timeout] are at hand, and [Middleware] of one's own is a
// function. [WithBackoff] and [WithLease] set what may differ from kind to kind. Package
// child makes handlers of programs in any language.
//
// # One job
//
//	claimed ─► (renewed first, when the answer came late) ─► handler ─► outcome
//
// A handler that returns nil completes its job; [CompleteTx] does so within the
// handler's own transaction. [queue.Permanent] and panics bury it, [queue.Snooze] gives
// it back for later, any other error is retried with backoff: after 2 minutes, then 4, 8,
// 16, 32 and 64 ([queue.DefaultBackoff]), until its attempts are used up, which are 5. The
// lease is 30 s.
//
// The outcome has a context of its own, so it is written after a stop signal too, and is
// tried again through lost connections for as long as the lease can be trusted.
// Completions that come together are written together; one whose row another
// transaction has locked waits by itself, and keeps no connection from claims and
// from the completions of others. An outcome is fenced by the
// claim's token: when somebody else has the job by now it matches no row, changes
// nothing and is told as an event.
//
// # Panics of your code
//
// A panic costs at most the job it is about, and is never silent:
//
//	a handler, its middleware     the job is buried with the stack; retried under Recover
//	its error, when it is read    the same: a typed nil, say. Recover does not see it
//	a payload that Typed decodes  the same
//	a backoff                     the job is retried after the default one; an event
//	a Middleware, called by New   New refuses it
//	Options.Events, Settled and   what it was told is lost to it; one event for each
//	Logger, the logger of Logging
//
// Out of reach are goroutines that your code starts, and the hooks and tracers of the
// pgx pool: a panic there ends the process, and leases run out.
//
// # Waking and polling
//
// Workers sleep until they are notified of work, until the next scheduled job is due, or
// until it is time to look: after Options.PollMin, and ever less often up to
// Options.PollMax while there is nothing. A worker with several queues claims from the
// first for as long as that has jobs due, then from the second.
//
// # Trust
//
// A lease is a promise by the database's clock, which this process cannot read
// without asking. So it counts from the moment it *sent* its last successful
// claim or heartbeat, which is before the database granted it:
//
//	trusted until = sent + lease − margin
//
// One statement every third of the shortest lease renews all leases of the
// process. When no renewal succeeds before the trust deadline, the handler's
// context is cancelled with [ErrTrustEnded], before anyone else can own the job.
// A heartbeat that finds a lease gone cancels it with [queue.ErrLeaseLost]. The
// deadline is kept on a clock that goes on while the machine sleeps; the wall
// clock decides nothing here, it only labels what screens show.
//
// The shortest lease allowed is the margin (a tenth of the lease) plus 900 ms: one second.
// Heartbeats keep it while round trips take up to 80 ms. On a slower network leases are
// stretched until heartbeats can keep them, with half a round trip to spare, and an event
// says so.
//
// # Rows that the server refuses to change
//
// A constraint or a trigger may keep one job's row from being changed. Claims and reclaims
// pass over it, for a second and then for twice as long each time; a heartbeat renews the
// other leases, and ends that handler when its trust ends; a completion is tried again
// without a slot for as long as the lease can be kept. A [RowRefused] event names the job
// and the server's reason. When the leases of two jobs, and none between them, cannot be
// renewed, that is taken for a server that refuses heartbeats: nothing is claimed for a while.
//
// # Asked from outside
//
// [queue.Queue.Cancel] leaves a name in the job's row and says so on the control
// channel; the process that runs the job sends a heartbeat at once, which finds the
// name, and cancels the handler with [queue.ErrCancelled]. Where nobody listens, the
// next regular heartbeat finds it. The handler has the last word: nil completes the
// job, any error ends it as dead. So each job has one end, whoever is quicker.
//
// [queue.Queue.Pause] needs nothing here: the claim statement leaves paused queues
// alone. [queue.Queue.Resume] wakes the workers.
//
// # Reaping and retention
//
// Every pool has a reaper that takes back the leases which ran out, whoever held them, of
// all queues or of Options.Reaps: see [queue.Queue.Reclaim]. Completed jobs older than Options.Retention are deleted in
// short batches, by one process at a time. Dead letters are not: they leave by redrive
// or discard.
//
// # Kill and freeze
//
// A goroutine cannot be killed from outside, so a worker is built to be
// abandoned. [Pool.Kill] cuts its claims, heartbeats and outcomes and drops what
// its handlers return, without any clean-up. The database sees what it sees when
// a process dies: no statement of that worker any more, and a row that stays as
// it was until its lease runs out.
//
// [Pool.Freeze] makes a zombie: handlers go on, claims, heartbeats and outcomes
// stop. A second after its leases have run out it thaws, tries to finish what it
// held, and is fenced.
package workers
