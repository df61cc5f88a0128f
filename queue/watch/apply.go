package watch

import (
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/leasetop/leasetop/queue"
)

// transaction is what one transaction of the stream did. pgoutput sends a
// transaction whole and only once it is committed.
type transaction struct {
	at    time.Time
	story burst
	left  Event // a dead letter just deleted: perhaps the archive gets it
	taken int64 // a job just taken from the archive: perhaps it is restored
	kept  Event // a job just archived: perhaps it is deleted next
}

// apply adds one change to the ledger, and to what the transaction tells.
func (s *stream) apply(c change) {
	tx := s.tx
	s.changes++
	if c.archive {
		s.archived(c)
		return
	}
	tx.leave()
	switch c.kind {
	case pglogrepl.MessageTypeInsert:
		s.inserted(c.after)
	case pglogrepl.MessageTypeUpdate:
		s.updated(c)
	case pglogrepl.MessageTypeDelete:
		s.deleted(c.id)
	case pglogrepl.MessageTypeTruncate:
		tx.tell(Event{What: Truncated, Note: "every job of every queue"})
		s.ledger.clear()
	}
	tx.taken, tx.kept = 0, Event{}
}

func (s *stream) inserted(now *row) {
	e, n := tellNew(now, s.tx.at), moves{in: 1}
	t := s.ledger.tally(now.queue)
	switch {
	case s.tx.taken == now.id:
		e.What, n = Restored, moves{}
	case over(now.status): // brought in as it is, as by an import: it neither ran nor died here
		n = moves{}
	}
	if now.status == queue.Completed {
		t.completed++
	}
	t.news.add(n)
	s.tx.tell(e)
	s.put(now)
}

func (s *stream) updated(c change) {
	now, l := c.after, s.ledger
	var was row
	known := l.old(c.id, now, &was)
	if !known { // what the ledger does not know was completed
		was = *now
		was.id, was.status, was.owner = c.id, queue.Completed, ""
	}
	e := tell(&was, now, s.tx.at)
	t := l.tally(now.queue)
	n := movesOf(e, &was, now)
	switch {
	case e.What == Claimed && was.status == queue.Processing && was.owner != now.owner:
		s.tx.tell(event(Lost, &was, was.owner, "taken over"))
		n.reclaimed = 1
	case e.What == Claimed && was.status == queue.Pending && was.runAt.Infinity == 0:
		s.traffic.picked(time.Now(), now.lockedAt.Sub(was.runAt.Time))
	case e.What == Renewed:
		s.renewals++
	}
	switch {
	case known && now.status == queue.Completed:
		t.completed++
		t.finished++
	case !known && now.status == queue.Completed:
		l.loosen()
	case !known && t.completed > 0:
		t.completed--
		l.loosen()
	case !known: // it came from another queue
		l.gone++
		l.loosen()
	}
	t.news.add(n)
	s.tx.tell(e)
	if c.id != now.id {
		l.drop(c.id)
	}
	s.put(now)
}

// put lets the ledger have a row. Only a lease is kept as it is, and the decoder
// makes the next row in the same place.
func (s *stream) put(now *row) {
	if now.status == queue.Processing {
		kept := *now
		now = &kept
	}
	s.ledger.put(now)
	if s.ledger.jobs() > s.feed.opts.MostJobs {
		s.abandon(tooManyError(s.feed.opts.MostJobs))
	}
}

// movesOf is what a change adds to a queue's rates.
func movesOf(e Event, was, now *row) (n moves) {
	switch {
	case e.What == Redriven:
		n.in = 1
	case e.What == Retried || e.What == Failed:
		n.failed = 1
	case e.What == Reclaimed || e.OwnerLost():
		n.reclaimed = 1
	case e.What == Buried:
		n.failed = 1
	}
	if over(now.status) && !over(was.status) {
		n.out = 1
	}
	if now.status.IsDeadLetter() && !was.status.IsDeadLetter() && e.What != TakenBack { // it did not die now
		n.dead = 1
	}
	return n
}

func over(status queue.Status) bool { return status == queue.Completed || status.IsDeadLetter() }

func (s *stream) deleted(id int64) {
	var was row
	if !s.ledger.old(id, nil, &was) {
		s.ledger.gone++
		s.tx.tell(Event{What: Deleted, JobID: id, Count: 1, Note: "completed"})
		return
	}
	e := event(Deleted, &was, was.owner)
	if !over(was.status) {
		s.ledger.tally(was.queue).news.out++
	}
	s.ledger.drop(id)
	switch {
	case s.tx.kept.JobID == id:
		e.What, e.Note = Discarded, s.tx.kept.Note
		s.tx.tell(e)
	case was.status.IsDeadLetter():
		s.tx.left = e
	default:
		s.tx.tell(e)
	}
}

// archived is a change of the archive. Whoever discards or restores jobs moves each
// from one table to the other in one statement, so the two changes follow each other.
func (s *stream) archived(c change) {
	tx := s.tx
	switch {
	case c.kind == pglogrepl.MessageTypeInsert && tx.left.JobID == c.id:
		tx.left.What, tx.left.Note = Discarded, "by "+c.by
		tx.leave()
	case c.kind == pglogrepl.MessageTypeInsert:
		tx.kept = Event{JobID: c.id, Note: "by " + c.by}
	case c.kind == pglogrepl.MessageTypeDelete:
		tx.taken = c.id
	}
}

// leave tells of the dead letter that was deleted.
func (tx *transaction) leave() {
	if tx.left.JobID != 0 {
		tx.tell(tx.left)
		tx.left = Event{}
	}
}

func (tx *transaction) tell(e Event) {
	e.At, e.Source = tx.at, FromWAL
	tx.story.add(e)
}
