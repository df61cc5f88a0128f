package cli

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Find returns the ids of the jobs that pass a filter: the set of an act, fixed from now on.
func Find(ctx context.Context, p Printer, q *queue.Queue, f queue.Filter) ([]int64, error) {
	defer p.endProgress()
	return q.Matching(ctx, f, func(found, looked int) {
		p.progress(fmt.Sprintf("found %s among %s jobs", thousands(found), thousands(looked)))
	})
}
