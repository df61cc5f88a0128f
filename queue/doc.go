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
//	          │                     retry, no attempts left ──► failed ┐ dead
//	          │                     bury, cancel, or the lease         │ letters
//	          │                     ran out too often ──────► dead    ┘
//	          └────────────────────── redrive ─────────────────┘
//
// A worker that dies says nothing. Its lease runs out, and [Queue.Reclaim]
// gives the job back (or, when its attempts are used up, buries it), so every
// job is run at least once and may be run twice. Effects must therefore be
// guarded: see [Queue.Once] and [Queue.CompleteTx].
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
// # Clock
//
// Due, expired and age are decided by the database's clock alone. No method
// compares a time of this machine with one of the table's.
//
// # Schema
//
// The statements are the files of package sql. They work beside workers in any
// language that use the same table with the statements of the article this
// queue implements; [Queue.Reclaim] also ends jobs which such workers leave in
// processing with their attempts used up.
package queue
