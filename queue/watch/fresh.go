package watch

import (
	"time"

	"github.com/jackc/pglogrepl"
)

// marksKept bounds the marks while the stream is far behind.
const marksKept = 600

// mark says that at a local time the database had written its WAL up to a position.
// A keepalive does not tell how much a sender that is busy still has to send; a mark
// which the stream has not reached does.
type mark struct {
	position pglogrepl.LSN
	at       time.Time
}

// marks are those that the stream has not reached, oldest first.
type marks struct {
	ahead   []mark
	reached time.Time // local clock: everything written by then is known
}

func (m *marks) add(position pglogrepl.LSN, at time.Time) {
	if len(m.ahead) == marksKept { // every other one will do
		for i := range marksKept / 2 {
			m.ahead[i] = m.ahead[2*i]
		}
		m.ahead = m.ahead[:marksKept/2]
	}
	m.ahead = append(m.ahead, mark{position, at})
}

// reach drops the marks before a position.
func (m *marks) reach(position pglogrepl.LSN) {
	passed := 0
	for passed < len(m.ahead) && m.ahead[passed].position <= position {
		m.reached = m.ahead[passed].at
		passed++
	}
	m.ahead = append(m.ahead[:0], m.ahead[passed:]...)
}

// knownUntil is the local time up to which the ledger knows everything. Call it
// within note or change.
func (f *Feed) knownUntil(s *stream) time.Time {
	f.marks.reach(s.applied)
	until := f.marks.reached
	if len(f.marks.ahead) == 0 {
		until = f.later(until, s.alive, s.heard)
	}
	return f.later(until, s.committed, s.heard)
}

// later is the later of two times: a local one, and one of the database's clock before
// the local time now. By the monotonic clock: what was read of it is as long ago as the
// database says. Call it within note or change.
func (f *Feed) later(local, database, now time.Time) time.Time {
	clock := f.skew.clock()
	switch {
	case database.IsZero():
		return local
	case clock.Known:
		now = now.Add(min(database.Sub(clock.Now(now)), 0))
	}
	if now.After(local) {
		return now
	}
	return local
}

// behind is how far the ledger is behind the database, 0 when it is not known to be.
// Call it within note or change.
func (s *stream) behind(now time.Time) time.Duration {
	lag := time.Duration(0)
	if until := s.feed.knownUntil(s); len(s.feed.marks.ahead) > 0 {
		lag = now.Sub(until)
	}
	if clock := s.feed.skew.clock(); clock.Known && s.tx != nil {
		lag = max(lag, clock.Now(now).Sub(s.tx.at))
	}
	return max(lag, 0)
}

// databaseNow is the database's clock, or this machine's while nothing is known of it.
func (f *Feed) databaseNow(now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skew.clock().Now(now)
}
