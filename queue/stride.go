package queue

import (
	"context"
	"time"
)

// stride is how many jobs each statement of a long reading looks at: so many that it
// takes about a tenth of a second, whatever the server and the payloads are like. A
// short statement holds up nobody, ends when it is called off, and stays within
// statement_timeout.
type stride struct {
	rows, most int
	least      int // it gets no shorter for being slow, only when the server gives it up: a statement costs something by itself
}

const (
	strideMost  = 100_000
	strideQuick = 60 * time.Millisecond
	strideSlow  = 150 * time.Millisecond
)

// strideFor is the first stride under a filter: what it has to read of each job decides.
func strideFor(n *narrow) stride {
	switch {
	case n.wide:
		return stride{200, strideMost, 1}
	case n.path != nil:
		return stride{10_000, strideMost, 2500}
	}
	return stride{20_000, strideMost, 5000}
}

// take looks at some jobs. A stride that tookTooLong for the server is looked at again in
// shorter ones, down to a single job.
func (s *stride) take(ctx context.Context, tookTooLong func(error) bool, look func(rows int) error) error {
	for {
		began := time.Now()
		err := look(s.rows)
		switch took := time.Since(began); {
		case err != nil && s.rows > 1 && ctx.Err() == nil && tookTooLong(err):
			s.rows = max(s.rows/4, 1)
			s.most, s.least = s.rows, 1
			continue
		case err != nil:
			return err
		case took > strideSlow && s.rows > s.least:
			s.rows = max(s.rows/2, s.least)
		case took < strideQuick:
			s.rows = min(s.rows*2, s.most)
		}
		return nil
	}
}
