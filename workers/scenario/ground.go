package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
)

// Ground is where plays take place.
type Ground struct {
	Queue *queue.Queue // the database and schema at hand; of its connections plays use none but their own
	Dir   string       // where servers of their own are kept; "" as sql/local has it
	// AloneSince is when this program came to the server, if nobody else was there then; else
	// zero. A play that showed no sign of life since, and whose lock is free, was killed.
	AloneSince time.Time
}

// Allows tells whether a scenario may be played here, and if not, why and what to do.
// A database which is not local, or not marked for demonstrations, is somebody's:
// only scenarios that keep to queues of their own are played there.
// Nothing is played through a pooler that hands a server's session from one client to the
// next: plays live by their session's lock, workers by LISTEN.
func (g Ground) Allows(ctx context.Context, needs Needs) (ok bool, why string, err error) {
	if pooled, err := faults.Pooled(ctx, g.Queue); err != nil {
		return false, "", fmt.Errorf("see whether a pooler stands between: %w", err)
	} else if pooled {
		return false, "a pooler stands between this program and the server, and plays need sessions of their own: connect to the server itself, not through a pooler", nil
	}
	if needs == Queue {
		return true, "", nil
	}
	ok, why, err = g.Queue.Demonstration(ctx)
	if err != nil {
		return false, "", fmt.Errorf("see whether this database is for demonstrations: %w", err)
	}
	return ok, why, nil
}
