package queue

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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

// take looks at some jobs. What the server gives up is looked at again in shorter strides,
// down to a single job.
func (s *stride) take(ctx context.Context, look func(rows int) error) error {
	for {
		began := time.Now()
		err := look(s.rows)
		switch took := time.Since(began); {
		case err != nil && s.rows > 1 && ctx.Err() == nil && gaveUp(err):
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

// gaveUp tells whether the server gave a statement up, as statement_timeout has it.
func gaveUp(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "57014" // query_canceled
}
