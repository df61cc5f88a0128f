package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
)

// Purge deletes for good what has been over for long enough, and prints how many that
// were, also when it fails or is called off half-way.
func Purge(ctx context.Context, p Printer, q *queue.Queue, what queue.Purge) error {
	var deleted int64
	failed := q.Logged(ctx, queue.Act{By: Operator(), What: "purge", Filter: purged(what)}, func(ctx context.Context) (_, _ int, err error) {
		deleted, err = q.Purge(ctx, what, func(deleted int64) { p.progress(fmt.Sprintf("deleted %d", deleted)) })
		p.endProgress()
		return int(deleted), 0, err
	})
	if failed != nil {
		if deleted == 0 {
			return failed
		}
		failed = fmt.Errorf("%w (what is left is as it was: run it again for the rest)", failed)
	}
	if p.Format == JSON {
		return errors.Join(line(p.Out, struct {
			What    queue.PurgeWhat `json:"what"`
			Deleted int64           `json:"deleted"`
		}{what.What, deleted}), failed)
	}
	_, err := fmt.Fprintf(p.Out, "deleted %d\n", deleted)
	return errors.Join(err, failed)
}

// purged says in words, for the operator log, what a purge deletes.
func purged(what queue.Purge) string {
	text := fmt.Sprintf("--%s --older-than %v", what.What, what.OlderThan)
	if what.Queue != "" {
		text += " --queue " + what.Queue
	}
	return text
}
