package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	confirmEvery = 500 * time.Millisecond
	showEvery    = 50 * time.Millisecond // at most; with many queues it is longer
	showAtLeast  = time.Second           // ages and rates move also when nothing happens
	showShare    = 20                    // showing takes one part in so many of the time
	glanceEvery  = 64                    // messages between two looks at the clock
	largeMessage = 8 << 20               // bytes of a row that somebody made far too large
)

// errSilent says that a server which is asked every half second said nothing for long.
var errSilent = errors.New("no sign of life for " + inWords(silentAfter))

// errReplaced says that what was seeded from is not what changes now.
var errReplaced = errors.New("the jobs table was dropped and made again")

// errPublication says that changes may have been left out of the stream.
var errPublication = errors.New("the publication was changed: everything is read again")

// stream follows one replication connection. One goroutine uses it, but for abandoned.
type stream struct {
	feed      *Feed
	conn      *pgconn.PgConn
	decoder   *decoder
	ledger    *ledger
	traffic   *traffic
	tx        *transaction
	applied   pglogrepl.LSN // everything before is in the ledger
	heard     time.Time     // the last sign of life
	asked     time.Time     // local clock before the snapshot was made
	seeded    mark          // how far the stream has to go after the seed
	alive     time.Time     // the database's time of the last keepalive between transactions
	got       bool          // something came since the last look at the clock
	large     bool          // and some of it was large
	published string        // what the publication was like
	file      string        // which held the table before the slot was made

	order    []*tally // the queues by name
	leases   []Lease  // as last shown
	events   []Event  // since they were last shown
	changes  uint32   // of rows, since they were last counted
	renewals uint64   // of leases, since then

	changed   bool      // something is not shown yet
	committed time.Time // the database's time of the last commit
	died      time.Time // local clock of the last that changed which dead letters there are
	shown     time.Time
	counted   time.Time // local clock up to which the rates are counted
	second    int64     // of the database's clock, of the last transaction
	delayed   time.Time // when it was last told that a transaction takes long
	showEvery time.Duration
	confirmAt time.Time
	wakeAt    time.Time // the deadline for reading
	nextDue   time.Time // when the first scheduled job is due

	abandoned atomic.Pointer[error] // why somebody wants this stream to end
}

// follow reads until the connection is lost. The deadline for reading is that of what
// is due next by time: to confirm, else an idle table on a busy server would pin its
// WAL; and to show what time changes or what has not been shown yet.
func (s *stream) follow(ctx context.Context) error {
	wire := s.conn.Conn()
	stop := context.AfterFunc(ctx, func() { _ = wire.SetReadDeadline(time.Now()) })
	defer stop()
	s.heard, s.showEvery = time.Now(), showEvery
	timedOut := true
	for messages := 0; ; messages++ {
		if timedOut || messages%glanceEvery == 0 {
			if err := s.glance(ctx); err != nil {
				return err
			}
		}
		message, err := s.conn.ReceiveMessage(context.Background())
		if timedOut = err != nil; timedOut {
			if pgconn.Timeout(err) {
				continue
			}
			return err
		}
		s.got = true
		if data, ok := message.(*pgproto3.CopyData); ok && len(data.Data) > largeMessage {
			s.large = true
		}
		if err := s.message(message); err != nil {
			return err
		}
	}
}

// glance does what is due by time and sets the deadline for reading.
func (s *stream) glance(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if why := s.abandoned.Load(); why != nil {
		return *why
	}
	now := time.Now()
	if s.large && !s.got { // after the last of them
		s.large = false
		debug.FreeOSMemory() // else what they took stays with the process for minutes
	}
	if s.got {
		s.heard, s.got = now, false
	}
	if !now.Before(s.confirmAt) {
		if now.Sub(s.heard) > silentAfter {
			return errSilent
		}
		if err := s.confirm(); err != nil {
			return err
		}
		s.confirmAt = now.Add(confirmEvery)
	}
	switch {
	case s.tx != nil: // half a transaction is no picture, but it may take long
		if now.Sub(s.shown) >= showAtLeast && now.Sub(s.delayed) >= showEvery {
			s.delayed = now
			s.feed.change(func() { s.feed.draft.WAL.Heard, s.feed.draft.WAL.Lag = s.heard, s.behind(now) })
		}
	case !now.Before(s.showAt()):
		s.show(now)
	}
	return s.wake(ctx)
}

// wake sets the deadline for reading to what is due next.
func (s *stream) wake(ctx context.Context) error {
	next := s.confirmAt
	if at := s.showAt(); s.tx == nil && at.Before(next) {
		next = at
	}
	if !next.Equal(s.wakeAt) {
		s.wakeAt = next
		_ = s.conn.Conn().SetReadDeadline(next)
	}
	return ctx.Err() // after the deadline was set: that of the end may have come just before
}

// showAt is when the next picture is due.
func (s *stream) showAt() time.Time {
	wait := max(s.showEvery, showAtLeast)
	if s.changed {
		wait = s.showEvery
	}
	at := s.shown.Add(wait)
	if s.nextDue.Before(at) {
		at = s.nextDue
	}
	return at
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
	s.heard = time.Now()
	if s.tx == nil {
		s.changed = s.changed || s.alive.IsZero() // until now the figures were as old as the seed
		s.alive = alive.ServerTime
		s.reach(max(s.applied, alive.ServerWALEnd))
	}
	s.feed.note(func() {
		l := &s.feed.draft.WAL
		l.Heard, l.Lag = s.heard, s.behind(s.heard)
	})
	return nil
}

// reach notes that everything before a position is in the ledger.
func (s *stream) reach(position pglogrepl.LSN) {
	s.applied = position
	if t := s.feed.trail.Load(); t != nil {
		t.reached(s, position)
	}
}

func (s *stream) logical(data []byte) error {
	if at, commit, ok := readBegin(data); ok {
		if t := s.feed.trail.Load(); t != nil {
			t.begins(s, commit)
		}
		if second := at.Unix(); second != s.second { // a stream that catches up tells of many at once
			s.count()
			s.second = second
		}
		s.tx = &transaction{at: at}
		s.ledger.now = max(s.ledger.now, microsOf(at)) // what is due at its own commit is ready
		return nil
	}
	if end, ok := readCommit(data); ok {
		return s.commit(end)
	}
	c, ok, err := s.decoder.decode(data, s.last)
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	if ok && s.tx != nil {
		s.apply(c)
	}
	return nil
}

// last is the last known state of a job, for values that PostgreSQL does not repeat.
func (s *stream) last(id int64) *row {
	if r := s.ledger.leases[id]; r != nil {
		return r
	}
	var r row
	if s.ledger.old(id, nil, &r) {
		return &r
	}
	return nil
}

// commit ends a transaction. The first after a quiet moment is shown at once.
func (s *stream) commit(end pglogrepl.LSN) error {
	if s.tx != nil {
		s.tx.leave()
		s.events = s.tx.story.told(s.events)
		s.changed, s.committed = s.changed || s.tx.story.count > 0, s.tx.at
		if s.ledger.ended {
			s.ledger.ended = false
			now := time.Now()
			s.died = now.Add(s.tx.at.Sub(s.feed.databaseNow(now)))
		}
		s.tx = nil
	}
	s.reach(max(s.applied, end))
	if !s.changed {
		return nil
	}
	now := time.Now()
	s.heard = now
	if at := s.showAt(); !now.Before(at) {
		s.show(now)
	} else if at.Before(s.wakeAt) {
		s.wakeAt = at
		_ = s.conn.Conn().SetReadDeadline(at)
	}
	return nil
}

// count adds what jobs did to the rates, for when they did it.
func (s *stream) count() {
	var all moves
	s.feed.note(func() {
		since := s.counted
		s.counted = s.feed.knownUntil(s)
		s.feed.rates.counted(since, s.counted)
		for name, t := range s.ledger.queues {
			s.feed.rates.add(name, s.counted, t.news)
			all.add(t.news)
			if t.news != (moves{}) {
				t.news, t.until = moves{}, s.ledger.now+sparkSeconds*1e6
			}
		}
	})
	s.traffic.add(s.counted, s.changes, all)
	s.changes = 0
}

// show puts what the ledger holds into State.
func (s *stream) show(now time.Time) {
	f, l := s.feed, s.ledger
	clock := f.databaseNow(now)
	at := microsOf(clock)
	l.tick(at)
	l.settle()
	s.order = l.inOrder(s.order)
	lines := make([]QueueDepth, len(s.order))
	for i, t := range s.order {
		lines[i] = t.depth(at)
	}
	if l.moved || s.leases == nil {
		s.leases, l.moved = firstLeases(l.leases), false
	}
	s.count()
	known, traffic := s.counted, s.traffic.read(s.counted)
	f.change(func() {
		for i, t := range s.order {
			flow := f.rates.read(t.name, known)
			lines[i].Rate, lines[i].Spark, lines[i].SparkIn = flow.rate, flow.spark, flow.sparkIn
		}
		f.rates.idle(now)
		f.happened(s.events...)
		f.renewals += s.renewals
		f.draft.Depths = Depths{Source: FromWAL, At: clock, Read: known, Queues: lines}
		f.draft.Leases = Leases{Source: FromWAL, At: clock, Read: known, Total: len(l.leases), List: s.leases, Renewals: f.renewals}
		all := f.rates.read(allQueues, known)
		traffic.Rate, traffic.Spark, traffic.SparkIn = all.rate, all.spark, all.sparkIn
		f.draft.Traffic = traffic
		dead := l.digest.failed + l.digest.dead
		f.expectDead(s.died, now, dead)
		f.countDead(dead, false)
		f.draft.WAL.Heard, f.draft.WAL.Lag = s.heard, s.behind(now)
	})
	s.events, s.renewals, s.changed, s.shown = s.events[:0], 0, false, now
	s.showEvery = max(showEvery, showShare*time.Since(now))
	s.nextDue = s.shown.Add(24 * time.Hour)
	if due := l.nextDue(); due < math.MaxInt64 {
		s.nextDue = s.shown.Add(max(time.Duration(min(due-at, maxMicros))*time.Microsecond, s.showEvery))
	}
}
