package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// redriveBatch is how many jobs are brought back between two looks at whether to go on.
const redriveBatch = 200

type skipped struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
}

// Redrive brings dead letters back and prints how many it brought back, how many
// it left, and why each of those. A skip is an answer, not a failure. When it is
// called off half-way it prints what was done so far.
func Redrive(ctx context.Context, p Printer, q *queue.Queue, ids []int64) error {
	done := queue.Done{}
	var failed error
	for len(ids) > 0 && failed == nil {
		n := min(len(ids), redriveBatch)
		var some queue.Done
		some, failed = q.Redrive(ctx, Operator(), ids[:n]...)
		done.IDs, done.Skipped = append(done.IDs, some.IDs...), append(done.Skipped, some.Skipped...)
		ids = ids[n:]
	}
	if failed != nil && len(done.IDs)+len(done.Skipped) == 0 {
		return failed
	}
	return errors.Join(printRedriven(p, done), failed)
}

// RedriveAll brings back every dead letter that there is at its start, of one
// queue or ("") of all. The set is fixed then: what fails again at once, or dies
// meanwhile, is left alone.
func RedriveAll(ctx context.Context, p Printer, q *queue.Queue, queue string) error {
	ids, err := q.DeadIDs(ctx, queue)
	if err != nil {
		return err
	}
	return Redrive(ctx, p, q, ids)
}

func printRedriven(p Printer, done queue.Done) error {
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		report := struct {
			Redriven []int64   `json:"redriven"`
			Skipped  []skipped `json:"skipped"`
		}{append([]int64{}, done.IDs...), []skipped{}}
		for _, s := range done.Skipped {
			report.Skipped = append(report.Skipped, skipped(s))
		}
		return errors.Join(line(out, report), out.Flush())
	}
	fmt.Fprintf(out, "redriven %d, skipped %d\n", len(done.IDs), len(done.Skipped))
	for _, s := range done.Skipped {
		fmt.Fprintf(out, "skipped %d: %s\n", s.ID, safe.Text(s.Reason))
	}
	return out.Flush()
}

// Operator names who acts, for the jobs' histories.
func Operator() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}
