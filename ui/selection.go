package ui

import "slices"

// motion is one movement of the cursor through a list or text.
type motion int

const (
	up motion = iota
	down
	halfUp
	halfDown
	toTop
	toBottom
)

// selection is the cursor and the window of a list. Both hold
// on to the identity of rows (a job's id, a worker's name), never to their
// numbers, so rows may come, go and change places at any moment.
type selection[K comparable] struct {
	keys   []K
	at     int  // the cursor's row
	top    int  // the first row in the window
	height int  // rows the window had when it was last drawn
	moved  bool // somebody has put the cursor where it is
}

// SetKeys takes the rows of a new reading, first to last. The cursor stays on
// its row; when that is gone, on the one that took its place.
func (s *selection[K]) SetKeys(keys []K) {
	if key, ok := s.Key(); ok {
		if i := slices.Index(keys, key); i >= 0 {
			if s.top > 0 { // else the first rows stay in sight as long as the cursor does
				s.top = max(s.top+i-s.at, 0)
			}
			s.at = i
		}
	}
	s.keys = keys
	s.at = max(min(s.at, len(keys)-1), 0)
}

// Settle takes the rows of a new reading, as SetKeys does, of a list that is read bit by
// bit: until somebody moves the cursor it stays on the first row, whichever that is.
func (s *selection[K]) Settle(keys []K) {
	s.SetKeys(keys)
	if !s.moved {
		s.Rest()
	}
}

// Hold keeps the cursor on its row from now on: it is acted on.
func (s *selection[K]) Hold() { s.moved = true }

// Rest puts the cursor on the first row of a list that nobody moves in: its first
// rows are shown, so whoever comes to it begins there.
func (s *selection[K]) Rest() { s.at, s.top = 0, 0 }

// Key returns the row under the cursor.
func (s *selection[K]) Key() (key K, ok bool) {
	if s.at < len(s.keys) {
		return s.keys[s.at], true
	}
	return key, false
}

// Select puts the cursor on a row, if it is there.
func (s *selection[K]) Select(key K) {
	if i := slices.Index(s.keys, key); i >= 0 {
		s.at, s.moved = i, true
	}
}

// Move moves the cursor.
func (s *selection[K]) Move(m motion) {
	s.moved = true
	half := max(s.height/2, 1)
	by := map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -len(s.keys), toBottom: len(s.keys)}[m]
	s.at = max(min(s.at+by, len(s.keys)-1), 0)
}

// Window returns the rows to draw in a window of so many, the cursor among them.
func (s *selection[K]) Window(height int) (from, to int) {
	s.height = max(height, 1)
	s.top = min(s.top, s.at)
	s.top = max(s.top, s.at-s.height+1)
	s.top = max(min(s.top, len(s.keys)-s.height), 0)
	return s.top, min(s.top+height, len(s.keys))
}
