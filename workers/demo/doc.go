// Package demo is the demonstration of `make run`: a small company's emails,
// images and reports, made up as they come, worked on by three workers.
//
// # The work
//
// A trickle of a few jobs a second, which stops while much is waiting. Most
// jobs take between 0.3 and 8 seconds and succeed. Some meet what jobs meet: a
// mail server that limits its rate or a slow image host (retried after seconds,
// not the minutes of [queue.DefaultBackoff]), a full mailbox (failed after its
// attempts), a corrupt image (dead at once). A few dead letters are enough: no
// more are made up while there are some to look at.
//
// # The heap
//
// A demonstration that begins with nothing has a hundred dead letters of five causes, for
// whoever wants to find out and to redrive. The mails of the autumn campaign lack their
// template, as those of the poison do: the first that is redriven dies again, and has the
// template deployed a quarter of a minute later; after that all of them are sent. A busy mail
// server and a locked account are over it: one more failure, then the retry succeeds. Full
// mailboxes and the corrupt image stay as they are, whatever is redriven.
//
// # The ledger
//
// The effect of a job is a row in leasetop.demo_ledger, written in one
// transaction with [queue.Queue.Once]. Workers may be killed, frozen and
// restarted at any moment: the ledger counts what was lost or done twice, and
// the answer must stay none. Completed jobs are forgotten after a quarter of an
// hour, with their effects; dead letters never.
//
// # The poison
//
// [Demo.Poison] enqueues a mail whose template does not exist: it is dead at
// once. Its error says when the template will be deployed, [deployAfter] after
// it was first missed. A redrive before that dies again; after it, the mail is
// sent.
//
// # What can be broken
//
// The handlers of mails and images call a [faults.Dependency], which may be slow or fail.
// They also know the poisons of package faults. Worker processes find them by the name
// [Named].
//
// The tables of the ledger and the templates are made by [Start] and [Prepare], not
// by a migration: only the private server of `make run` has them.
package demo
