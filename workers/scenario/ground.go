package scenario

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Ground is where plays take place.
type Ground struct {
	Queue *queue.Queue // the database and schema at hand; of its connections plays use none but their own
	Dir   string       // where servers of their own are kept; "" as sql/local has it
}

// Allows tells whether a scenario may be played here, and if not, why and what to do.
// A database which is not local, or not marked for demonstrations, is somebody's:
// only scenarios that keep to queues of their own are played there.
func (g Ground) Allows(ctx context.Context, needs Needs) (ok bool, why string, err error) {
	if needs == Queue {
		return true, "", nil
	}
	ok, why, err = g.Queue.Demonstration(ctx)
	if err != nil {
		return false, "", fmt.Errorf("see whether this database is for demonstrations: %w", err)
	}
	return ok, why, nil
}
