// Package watch tells what the queue is doing right now.
//
// # Model
//
// A [Feed] has three connections of its own. Each is a source; together they
// make one [State], an immutable value with a version:
//
//	source   connection               makes                           if it cannot be had
//	wal      replication stream       Events, rates, changed leases   differences of polls
//	notify   LISTEN                   Dead and Pauses, at once        they come with polls
//	poll     one query at a time      Server, Clock, Depths, Leases   nothing is fresh; ages grow
//
// Every part of State says which source it came from and when it was read, so a
// screen never has to show a number whose age it does not know. Trouble is never
// an error of this package: it is a [Link] with a reason and the cure in words,
// and the feed goes on trying. [Start] cannot fail for the same reason.
//
// # The stream
//
// The WAL reader makes a TEMPORARY replication slot under a random name, which
// PostgreSQL drops with the connection, so nothing is left behind however the
// program ends. Rows are decoded from pgoutput's binary format. The stream holds
// no old rows (the table keeps REPLICA IDENTITY DEFAULT, since FULL would make
// every heartbeat log the whole row), so the reader remembers the last it saw of
// each job in processing and each dead letter, from the snapshot the slot was
// made with onwards. That is how it tells a retry (run_at moved) from a reclaim
// (the lease had run out), a release (the attempt was given back) and a redrive
// (it was a dead letter). More than twenty changes of one kind in one transaction become
// one event. Lease renewals are counted, not told. Jobs that leave the table, by a
// discard or a purge, are told as deleted.
//
// # One picture from two sources
//
// Leases are read by the poll and kept current by the stream between two polls.
// A poll carries pg_current_snapshot(), and a transaction of the stream carries
// its xid, so it is known exactly whether a reading already contains a change:
// changes it does not contain are put on top of it.
//
// # Cost for the database
//
// While the stream counts, the poll reads no job, once a second; the dead letters shown
// are read again when a signal says so, at most four times a second. Whatever a feed
// reads, also to seed the stream, it reads one thing at a time, and nothing once it is
// closed. The stream's position is confirmed every second, also when nothing happens, so
// an idle table pins no WAL.
//
// Without the stream the poll counts. It pauses ten times as long as it took, or two
// seconds when that is less (never shorter than it took). What it reads for a count is
// capped, however much else there is, and [Depths].Cap says at what. Its queries are
// planned for their parameters each time, read the indexes in their order and are not
// compiled (jit): with many jobs waiting, the rest would take longer than the reading.
// A reading may take five seconds, or the role's statement_timeout where that is shorter.
// Counts that take longer go a tenth as far with the next poll, and further again later;
// [Depths].Note says why.
//
// Every five seconds a checkup reads what may trouble the queue before it does: from the
// server's catalog and statistics in one round trip of some milliseconds, and without
// waiting for a lock. [State.Findings] judges it.
//
// Everything from the database stays as it is in State, control characters and
// all: whoever shows it makes it safe.
package watch
