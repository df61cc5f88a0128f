package ui

import "time"

// playClock is time as the lanes of a play have it. It stands still while the play waits
// for its audience: the world does too, and what the story is about stays in sight
// however long somebody reads. The zero value is ready.
type playClock struct {
	since time.Time // when the wait began that goes on; zero: none does
	stood []stretch // when the clock stood still, oldest first
}

type stretch struct{ from, to time.Time }

// waitShown is how much of each wait the lanes show: long enough for what the last step
// changed to be looked at, and to have its letter.
const waitShown = 500 * time.Millisecond

// Tick tells the clock whether the play waits, at a moment.
func (c *playClock) Tick(now time.Time, waits bool) {
	switch from := c.since.Add(waitShown); {
	case !waits:
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = now
	case now.After(from):
		if n := len(c.stood); n == 0 || !c.stood[n-1].from.Equal(from) {
			c.stood = append(c.stood, stretch{from: from})
		}
		c.stood[len(c.stood)-1].to = now
	}
}

// Settling tells whether the clock goes on although the play waits: it is about to stand.
func (c *playClock) Settling(now time.Time) bool {
	return !c.since.IsZero() && now.Sub(c.since) < waitShown
}

// Of is a moment of the world on this clock.
func (c *playClock) Of(t time.Time) time.Time {
	still := time.Duration(0)
	for _, s := range c.stood {
		if s.from.Before(t) {
			still += min(t.Sub(s.from), s.to.Sub(s.from))
		}
	}
	return t.Add(-still)
}
