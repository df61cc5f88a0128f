// Package queue is a work queue on one PostgreSQL table.
//
// # Model
//
// A job is a row of <schema>.jobs. It is enqueued as pending; a worker claims
// it, which makes it processing and gives the worker a lease: the row names its
// owner (locked_by) and the moment until which nobody else may take it
// (lease_expires_at). The worker renews the lease by heartbeats and ends it
// with one outcome:
//
//	                 retry, release, snooze, reclaim
//	          ┌──────────────────────────────────────────┐
//	          ▼                                          │
//	enqueue ─► pending ──────────── claim ──────────► processing ── complete ─► completed
//	          ▲                                          │
//	          │                     retry, no attempts left ──► failed ┐ dead    ── discard ─►
//	          │                     bury, cancel, or the lease         │ letters               archive
//	          │                     ran out too often ────────► dead   ┘         ◄─ restore ──
//	          └────────────────────── redrive ────────────────────┘
//
// A cancelled job that is still pending is dead at once. What is completed or in the
// archive stays until [Queue.Purge] deletes it; dead letters are deleted by nothing.
//
// A worker that dies says nothing. Its lease runs out, and [Queue.Reclaim]
// gives the job back (or, when its attempts are used up, buries it), so every
// job is run at least once and may be run twice. Effects must therefore be
// guarded: see [Queue.Once] and [Queue.CompleteTx]. GUARANTEES.md beside this file
// says what is promised, and when a job runs twice.
//
// Package workers does all that a worker has to. The operations here are what it is
// made of, and what programs that enqueue, look and operate need.
//
// # Enqueueing
//
// [Queue.EnqueueTx] adds a job in the transaction of what the job is about: both come
// into being, or neither. [Queue.Enqueue] has a transaction of its own, and
// [Queue.EnqueueMany] brings in any number of jobs at once. With an idempotency key, a
// job is not added while another with that key is pending or processing, and
// [Enqueued] names that one.
//
// Workers hear of new jobs by NOTIFY, which makes commits of the whole cluster wait for
// each other. So Enqueue and EnqueueMany commit without it, and one notification every
// few milliseconds tells of all that this process added meanwhile. EnqueueTx and
// writers in other languages notify as they commit. A notification is no more than a
// hint: what gets lost is found by polling.
//
// # Defaults
//
//	attempts   5                     DefaultMaxAttempts; NewJob.MaxAttempts
//	backoff    2, 4, 8, 16, 32, 64   DefaultBackoff, in minutes, each up to a tenth longer, so a
//	           and on with 64        first retry comes after two minutes; workers.WithBackoff
//	lease      30 s                  of package workers, renewed every 10 s; workers.Options.Lease,
//	                                 workers.WithLease
//
// # Fencing
//
// Every claim statement writes an owner that no other claim ever used, the
// fencing token (see [Token]). Every later write of that claim names the job,
// the token and the status processing in its WHERE clause and looks at its row
// count: no row means that the lease is gone and somebody else may own the job;
// the caller gets [ErrLeaseLost]. Expiry itself is not checked by these writes:
// an owner whom nobody replaced may still finish.
//
// # Operating
//
// [Queue.Pause] stops all claims from a queue until [Queue.Resume]; what runs goes on.
// [Queue.Cancel] ends a pending job, and has the worker of a running one end it.
// [Queue.Redrive] brings dead letters back; [Queue.Discard] puts those that nobody will
// mend into the archive, and [Queue.Restore] takes them out again. [Queue.EditPayload] mends
// what a job was given, [Queue.RunNow] makes a scheduled one due, and [Queue.TakeBack] takes a
// running one from an owner that is gone. All but Resume note who did it. Those that act
// on many jobs return what was done to which job, and why a job was skipped.
//
// [Queue.DeadGroups] tells what the dead letters died of, and [Queue.DeadLetters] lists
// them. Package filter is the language in which a person says which are meant;
// [Queue.Matching] makes a set of them for an act on many. All of these read in short
// statements, however many there are.
//
// The command line and the dashboard do all this within [Queue.Logged], so that
// [Queue.Acts] tells later who did what, and why.
//
// # Clock
//
// Due, expired and age are decided by the database's clock alone. No method
// compares a time of this machine with one of the table's.
//
// # Errors and contexts
//
// The errors of all operations name the operation and wrap what the driver said.
// [errors.Is] tells [ErrSchemaMissing], [ErrSchemaOld], [ErrRefused], [ErrForbidden] and
// what else a method's comment names. When ctx ends in mid-operation, or the connection
// is lost, it is not known whether the operation was done. An outcome may be tried
// again: the second of two finds [ErrLeaseLost]. Acts on many jobs finish the
// transaction that is under way when ctx ends, and say how far they came.
//
// # Schema
//
// The statements are the files of package sql. They work beside workers in any language
// that use the same table as sql/languages/README.md says. Workers written after the
// usual articles on such queues work too; [Queue.Reclaim] also ends jobs which these
// leave in processing with their attempts used up.
package queue
