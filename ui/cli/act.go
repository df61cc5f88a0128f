package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// actBatch is how many jobs are acted on between two words about how far it is.
const actBatch = 200

type skipped struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
}

// act does something to jobs and prints to how many it did it, how many it left, and
// why each of those. A skip is an answer, not a failure. When it fails or is called
// off half-way it prints what was done so far.
func (p Printer) act(ctx context.Context, did string, ids []int64, do func(context.Context, ...int64) (queue.Done, error)) error {
	var done queue.Done
	failed := p.inBatches(ctx, did, ids, func(ctx context.Context, ids ...int64) (int, error) {
		some, err := do(ctx, ids...)
		done.IDs, done.Skipped = append(done.IDs, some.IDs...), append(done.Skipped, some.Skipped...)
		return len(some.IDs) + len(some.Skipped), err
	})
	if failed != nil && len(done.IDs)+len(done.Skipped) == 0 {
		return failed
	}
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		return errors.Join(line(out, map[string]any{did: list(done.IDs), "skipped": skips(done.Skipped)}), out.Flush(), failed)
	}
	fmt.Fprintf(out, "%s %d, skipped %d\n", did, len(done.IDs), len(done.Skipped))
	printSkipped(out, done.Skipped)
	return errors.Join(out.Flush(), failed)
}

// inBatches does something to jobs, some at a time. do returns how many it dealt
// with; an error, also that it was called off, says how many were not reached.
func (p Printer) inBatches(ctx context.Context, did string, ids []int64, do func(context.Context, ...int64) (int, error)) error {
	reached, long := 0, len(ids) > actBatch
	if long {
		defer p.endProgress()
	}
	for batch := range slices.Chunk(ids, actBatch) {
		if long {
			p.progress(fmt.Sprintf("%s %d of %d", did, reached, len(ids)))
		}
		n, err := do(ctx, batch...)
		reached += n
		if err != nil && len(ids) > 1 {
			err = fmt.Errorf("%w (%d of %d jobs were not reached: run it again for those)", err, len(ids)-reached, len(ids))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printSkipped(out *bufio.Writer, jobs []queue.Skip) {
	for _, s := range jobs {
		fmt.Fprintf(out, "skipped %d: %s\n", s.ID, safe.Text(s.Reason))
	}
}

func skips(jobs []queue.Skip) []skipped {
	out := make([]skipped, len(jobs))
	for i, s := range jobs {
		out[i] = skipped(s)
	}
	return out
}

// list is an empty list where nil would be printed as null.
func list[T any](some []T) []T { return append([]T{}, some...) }

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
