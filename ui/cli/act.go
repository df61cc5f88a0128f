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
	Detail string `json:"detail,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// Chosen are the jobs that an act is about. They are fixed when the command starts: what
// joins them meanwhile is left alone.
type Chosen struct {
	IDs    []int64
	Filter string // what chose them, for the operator log; "" when they were named one by one
	Why    string // in the words of whoever acts
}

// operatorLog is where acts are entered; *queue.Queue is one.
type operatorLog interface {
	Logged(ctx context.Context, a queue.Act, do func(context.Context) (done, skipped int, err error)) error
}

// entered does something to jobs within the operator log. When there are none, nothing
// is done and nothing entered.
func entered(ctx context.Context, l operatorLog, what string, jobs Chosen, do func(context.Context) (done, skipped int, err error)) error {
	if len(jobs.IDs) == 0 {
		return nil
	}
	return l.Logged(ctx, queue.Act{By: Operator(), What: what, Filter: jobs.Filter, Reason: jobs.Why, IDs: jobs.IDs}, do)
}

// act enters in the operator log what it does to jobs, does it and prints to how many it did it,
// how many it left, and why each of those. A job that has ended before, say, is an answer
// and no failure; one that is not there, is locked or is refused by the server is one. When
// it fails or is called off half-way it prints what was done so far.
func (p Printer) act(ctx context.Context, l operatorLog, what, did string, jobs Chosen, do func(context.Context, ...int64) (queue.Done, error)) error {
	var done queue.Done
	failed := entered(ctx, l, what, jobs, func(ctx context.Context) (int, int, error) {
		err := p.inBatches(ctx, did, jobs.IDs, func(ctx context.Context, ids ...int64) (int, error) {
			some, err := do(ctx, ids...)
			done.IDs, done.Skipped = append(done.IDs, some.IDs...), append(done.Skipped, some.Skipped...)
			return len(some.IDs) + len(some.Skipped), err
		})
		return len(done.IDs), len(done.Skipped), err
	})
	if failed != nil && len(done.IDs)+len(done.Skipped) == 0 {
		return failed
	}
	failed = errors.Join(failed, left(done.Skipped, len(jobs.IDs)))
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		return errors.Join(line(out, map[string]any{did: list(done.IDs), "skipped": skips(done.Skipped)}), out.Flush(), failed)
	}
	fmt.Fprintf(out, "%s %d, skipped %d\n", did, len(done.IDs), len(done.Skipped))
	printSkipped(out, done.Skipped)
	return errors.Join(out.Flush(), failed)
}

// inBatches does something to jobs, some at a time. do returns how many it dealt
// with; an error, also that it was called off, says how many others there are.
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
			err = fmt.Errorf("%w (%d of %d jobs are not known to be done: run it again for those)", err, len(ids)-reached, len(ids))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printSkipped(out *bufio.Writer, jobs []queue.Skip) {
	for _, s := range jobs {
		fmt.Fprintf(out, "skipped %d: %s\n", s.ID, safe.Text(veiled(s.Reason)))
		if s.Detail != "" {
			fmt.Fprintf(out, "  DETAIL: %s\n", safe.Text(veiled(s.Detail)))
		}
	}
}

// left is the error of an act that left some of its jobs as they were though it should not
// have; nil when it left none so.
func left(jobs []queue.Skip, of int) error {
	var first queue.Skip
	n := 0
	for _, s := range jobs {
		if !s.Failed {
			continue
		}
		if n++; n == 1 {
			first = s
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("job %d was left as it was: %s", first.ID, veiled(first.Reason))
	}
	return fmt.Errorf("%d of %d jobs were left as they were: each is named with the reason", n, of)
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

// Operator names who acts, for the jobs' histories and the operator log.
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
