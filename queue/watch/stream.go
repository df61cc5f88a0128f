package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/leasetop/leasetop/queue"
)

const (
	confirmEvery = time.Second
	leasesHeld   = 10_000 // lease changes of one transaction that wait for its commit
)

// errSilent says that a server which is asked every second said nothing for long.
var errSilent = errors.New("no sign of life for " + inWords(silentAfter))

// stream follows one replication connection.
type stream struct {
	feed    *Feed
	conn    *pgconn.PgConn
	decoder *decoder
	memory  *memory
	tx      *transaction
	applied pglogrepl.LSN // everything before is in State
	heard   time.Time
}

// transaction is what one transaction of the stream did. pgoutput sends a
// transaction whole and only once it is committed.
type transaction struct {
	xid      uint32
	at       time.Time
	story    burst
	leases   []leaseChange
	in, out  map[string]int64
	renewals uint64
	changed  bool
}

// follow reads until the connection is lost. The deadline for reading is that of
// the next confirmation, which is due by time and not by events: else an idle table
// on a busy server would pin its WAL.
func (s *stream) follow(ctx context.Context) error {
	wire := s.conn.Conn()
	stop := context.AfterFunc(ctx, func() { _ = wire.SetReadDeadline(time.Now()) })
	defer stop()
	s.heard = time.Now()
	var next time.Time
	for {
		if now := time.Now(); !now.Before(next) {
			if now.Sub(s.heard) > silentAfter {
				return errSilent
			}
			if err := s.confirm(); err != nil {
				return err
			}
			next = now.Add(confirmEvery)
			_ = wire.SetReadDeadline(next)
			if ctx.Err() != nil { // after the deadline was set: stop may have come just before
				return ctx.Err()
			}
		}
		message, err := s.conn.ReceiveMessage(context.Background())
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if pgconn.Timeout(err) {
				continue
			}
			return err
		}
		s.heard = time.Now()
		if err := s.message(message); err != nil {
			return err
		}
	}
}

// confirm tells the server how far we are and asks for an answer.
func (s *stream) confirm() error {
	return pglogrepl.SendStandbyStatusUpdate(context.Background(), s.conn, pglogrepl.StandbyStatusUpdate{
		WALWritePosition: s.applied, ReplyRequested: true,
	})
}

func (s *stream) message(m pgproto3.BackendMessage) error {
	switch m := m.(type) {
	case *pgproto3.CopyData:
		switch m.Data[0] {
		case pglogrepl.PrimaryKeepaliveMessageByteID:
			return s.keepalive(m.Data[1:])
		case pglogrepl.XLogDataByteID:
			data, err := pglogrepl.ParseXLogData(m.Data[1:])
			if err != nil {
				return err
			}
			return s.logical(data.WALData)
		}
	case *pgproto3.ErrorResponse:
		return pgconn.ErrorResponseToPgError(m)
	case *pgproto3.CopyDone:
		return errors.New("the server ended the stream")
	}
	return nil
}

// keepalive takes the server's word for how far everything was sent.
func (s *stream) keepalive(data []byte) error {
	alive, err := pglogrepl.ParsePrimaryKeepaliveMessage(data)
	if err != nil {
		return err
	}
	if s.tx == nil {
		s.applied = max(s.applied, alive.ServerWALEnd)
	}
	s.feed.note(func() {
		l := &s.feed.draft.WAL
		l.Heard = s.heard
		l.Lag = s.behind(alive.ServerTime)
	})
	return nil
}

// behind is how long ago the database's clock read t. Call it within note or change.
func (s *stream) behind(t time.Time) time.Duration {
	clock := s.feed.skew.clock()
	if !clock.Known {
		return 0
	}
	return max(clock.Now(s.heard).Sub(t), 0)
}

func (s *stream) logical(data []byte) error {
	m, err := pglogrepl.Parse(data)
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	switch m := m.(type) {
	case *pglogrepl.BeginMessage:
		s.tx = &transaction{xid: m.Xid, at: m.CommitTime, in: map[string]int64{}, out: map[string]int64{}}
		return nil
	case *pglogrepl.CommitMessage:
		s.commit()
		s.applied = max(s.applied, m.TransactionEndLSN)
		return nil
	}
	c, ok, err := s.decoder.decode(m, func(id int64) *row { return s.memory.rows[id] })
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	if ok && s.tx != nil {
		s.apply(c)
	}
	return nil
}

// apply adds one change to the transaction and to what is remembered.
func (s *stream) apply(c change) {
	tx := s.tx
	switch c.kind {
	case pglogrepl.MessageTypeInsert:
		tx.tell(tellNew(c.after, tx.at))
		tx.in[c.after.queue]++
		if over(c.after.status) {
			tx.out[c.after.queue]++
		}
		if c.after.status == queue.Processing {
			s.lease(leaseChange{id: c.id, held: c.after})
		}
		s.memory.keep(c.after)

	case pglogrepl.MessageTypeUpdate:
		old := s.memory.before(c.id, c.after)
		e := tell(old, c.after, tx.at)
		switch {
		case e.What == Renewed:
			tx.renewals++
		default:
			tx.tell(e)
		}
		if e.What == Redriven {
			tx.in[c.after.queue]++
		}
		if over(c.after.status) && (old == nil || !over(old.status)) {
			tx.out[c.after.queue]++
		}
		s.leaseOf(c, old, e.What)
		if c.id != c.after.id {
			s.memory.drop(c.id)
		}
		s.memory.keep(c.after)

	case pglogrepl.MessageTypeDelete:
		e := Event{What: Deleted, JobID: c.id, Count: 1}
		if old := s.memory.rows[c.id]; old != nil {
			e = event(Deleted, old, old.owner)
			if old.status == queue.Processing {
				s.lease(leaseChange{id: c.id, was: true})
			}
		}
		tx.tell(e)
		s.memory.drop(c.id)

	case pglogrepl.MessageTypeTruncate:
		tx.tell(Event{What: Truncated, Note: "every job of every queue"})
		s.lease(leaseChange{all: true})
		s.memory.clear()
	}
}

// leaseOf passes on what an update did to a lease.
func (s *stream) leaseOf(c change, old *row, what What) {
	was := old != nil && old.status == queue.Processing || old == nil && what == Renewed
	if was && c.id != c.after.id {
		s.lease(leaseChange{id: c.id, was: true})
		was = false
	}
	switch {
	case c.after.status == queue.Processing:
		s.lease(leaseChange{id: c.after.id, held: c.after, was: was})
	case was || old == nil:
		s.lease(leaseChange{id: c.after.id, was: was})
	}
}

func over(status queue.Status) bool { return status == queue.Completed || status.IsDeadLetter() }

func (tx *transaction) tell(e Event) {
	e.At, e.Source = tx.at, FromWAL
	tx.story.add(e)
	tx.changed = true
}

func (s *stream) lease(c leaseChange) {
	c.xid = s.tx.xid
	s.tx.leases = append(s.tx.leases, c)
	if len(s.tx.leases) >= leasesHeld {
		s.flushLeases()
	}
}

func (s *stream) flushLeases() {
	s.feed.change(func() {
		for _, c := range s.tx.leases {
			s.feed.leases.change(c)
		}
	})
	s.tx.leases = s.tx.leases[:0]
}

// commit puts a transaction into State and brings the next poll forward.
func (s *stream) commit() {
	tx := s.tx
	s.tx = nil
	if tx == nil || (!tx.changed && tx.renewals == 0) {
		return
	}
	now := time.Now()
	f := s.feed
	f.change(func() {
		for _, c := range tx.leases {
			f.leases.change(c)
		}
		f.leases.renewals += tx.renewals
		for name, n := range tx.in {
			f.rates.add(name, now, n, 0)
		}
		for name, n := range tx.out {
			f.rates.add(name, now, 0, n)
		}
		f.happened(tx.story.told()...)
		f.draft.WAL.Heard, f.draft.WAL.Lag = s.heard, s.behind(tx.at)
	})
	if tx.changed {
		poke(f.pollSoon)
	}
}
