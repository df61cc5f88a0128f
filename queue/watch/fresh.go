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
	if len(f.marks.ahead) == 0 {
		return s.heard
	}
	until := f.marks.reached
	if clock := f.skew.clock(); clock.Known && !s.committed.IsZero() {
		// By the monotonic clock: what was read of it is as long ago as the database says.
		if at := s.heard.Add(s.committed.Sub(clock.Now(s.heard))); at.After(until) && !at.After(s.heard) {
			until = at
		}
	}
	if until.IsZero() {
		until = f.marks.ahead[0].at
	}
	return until
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
