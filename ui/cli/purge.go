package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// Purge deletes for good what has been over for long enough, and prints how many that
// were, also when it fails or is called off half-way.
func Purge(ctx context.Context, p Printer, q *queue.Queue, what queue.Purge) error {
	var done queue.Purged
	failed := q.Logged(ctx, queue.Act{By: Operator(), What: "purge", Filter: purged(what)}, func(ctx context.Context) (_, _ int, err error) {
		done, err = q.Purge(ctx, what, func(deleted int64) { p.progress(fmt.Sprintf("deleted %d", deleted)) })
		p.endProgress()
		return int(done.Deleted), int(done.Kept), err
	})
	if failed != nil {
		if done.Deleted+done.Kept == 0 {
			return failed
		}
		failed = fmt.Errorf("%w (what is left is as it was: run it again for the rest)", failed)
	}
	switch {
	case failed != nil || done.Kept == 0:
	case done.Kept == 1:
		failed = fmt.Errorf("%s was kept: %s", done.First[0].Name, veiled(done.First[0].Reason))
	default:
		failed = fmt.Errorf("%d were kept, since they could not be deleted", done.Kept)
	}
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		return errors.Join(line(out, struct {
			What    queue.PurgeWhat `json:"what"`
			Deleted int64           `json:"deleted"`
			Kept    int64           `json:"kept,omitempty"`
			First   []queue.Kept    `json:"first,omitempty"`
		}{what.What, done.Deleted, done.Kept, done.First}), out.Flush(), failed)
	}
	fmt.Fprintf(out, "deleted %d", done.Deleted)
	if done.Kept > 0 {
		fmt.Fprintf(out, ", kept %d", done.Kept)
	}
	fmt.Fprintln(out)
	for _, k := range done.First {
		fmt.Fprintf(out, "kept %s: %s\n", safe.Text(k.Name), safe.Text(veiled(k.Reason)))
		if k.Detail != "" {
			fmt.Fprintf(out, "  DETAIL: %s\n", safe.Text(veiled(k.Detail)))
		}
	}
	if more := done.Kept - int64(len(done.First)); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
	return errors.Join(out.Flush(), failed)
}

// purged says in words, for the operator log, what a purge deletes.
func purged(what queue.Purge) string {
	text := fmt.Sprintf("--%s --older-than %v", what.What, what.OlderThan)
	if what.Queue != "" {
		text += " --queue " + what.Queue
	}
	return text
}
