package watch

import "time"

// clockSamples is how many round trips the skew is chosen from: a few seconds' worth.
const clockSamples = 8

// skew estimates the difference of the two clocks from the round trips of late.
// The database's reading lies somewhere within its round trip, so each bounds the
// skew to half a round trip around its middle, and the fastest bounds it best.
type skew struct {
	samples []trip
}

type trip struct {
	took time.Duration
	skew time.Duration
}

// add notes that the database's clock read db between sent and received.
func (s *skew) add(sent, received, db time.Time) {
	took := max(received.Sub(sent), 0)
	now := trip{took: took, skew: db.Sub(sent.Add(took / 2))}
	if best, ok := s.best(); ok && (now.skew-best.skew).Abs() > (now.took+best.took)/2+time.Millisecond {
		s.samples = s.samples[:0] // both cannot be true: one of the clocks was set
	}
	if len(s.samples) == clockSamples {
		s.samples = append(s.samples[:0], s.samples[1:]...)
	}
	s.samples = append(s.samples, now)
}

func (s *skew) best() (best trip, ok bool) {
	for i, t := range s.samples {
		if i == 0 || t.took < best.took {
			best = t
		}
	}
	return best, len(s.samples) > 0
}

// clock is what is known now.
func (s *skew) clock() Clock {
	best, ok := s.best()
	return Clock{Skew: best.skew, Known: ok}
}
