package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

type skippedQueue struct {
	Queue  string `json:"queue"`
	Reason string `json:"reason"`
}

// Pause stops claims from queues and prints which it paused, and which were paused
// already, since when, by whom and why.
func Pause(ctx context.Context, p Printer, q *queue.Queue, why string, queues []string) error {
	var paused []string
	err := enteredQueues(ctx, q, queue.Act{What: "pause", Reason: why}, queues, func(ctx context.Context) (_ int, err error) {
		paused, err = q.Pause(ctx, Operator(), why, queues...)
		return len(paused), err
	})
	if err != nil {
		return err
	}
	var skipped []skippedQueue
	if rest := others(queues, paused); len(rest) > 0 {
		var pauses []queue.Pause
		pauses, err = q.Pauses(ctx)
		for _, name := range rest {
			reason := "already paused"
			if i := slices.IndexFunc(pauses, func(p queue.Pause) bool { return p.Queue == name }); i >= 0 {
				reason += " since " + clock(pauses[i].Since) + " " + byWhom(&pauses[i])
			}
			skipped = append(skipped, skippedQueue{name, reason})
		}
	}
	err = errors.Join(p.printQueues("paused", paused, skipped), err)
	p.remark(ctx, q, paused)
	return err
}

// Resume ends the pauses of queues, of all that are paused when none is named, and
// prints which it ended.
func Resume(ctx context.Context, p Printer, q *queue.Queue, queues []string) error {
	if len(queues) == 0 {
		pauses, err := q.Pauses(ctx)
		if err != nil {
			return err
		}
		for _, pause := range pauses {
			queues = append(queues, pause.Queue)
		}
	}
	var resumed []string
	if len(queues) > 0 {
		err := enteredQueues(ctx, q, queue.Act{What: "resume"}, queues, func(ctx context.Context) (_ int, err error) {
			resumed, err = q.Resume(ctx, queues...)
			return len(resumed), err
		})
		if err != nil {
			return err
		}
	}
	var skipped []skippedQueue
	for _, name := range others(queues, resumed) {
		skipped = append(skipped, skippedQueue{name, "not paused"})
	}
	return p.printQueues("resumed", resumed, skipped)
}

// enteredQueues does something to queues within the operator log. do returns to how many
// it was done; the others were so already.
func enteredQueues(ctx context.Context, l operatorLog, a queue.Act, queues []string, do func(context.Context) (int, error)) error {
	a.By, a.Filter, a.Asked = Operator(), strings.Join(queues, ", "), int64(len(queues))
	return l.Logged(ctx, a, func(ctx context.Context) (done, skipped int, err error) {
		if done, err = do(ctx); err == nil {
			skipped = len(queues) - done
		}
		return done, skipped, err
	})
}

func (p Printer) printQueues(did string, queues []string, skipped []skippedQueue) error {
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		return errors.Join(line(out, map[string]any{did: list(queues), "skipped": list(skipped)}), out.Flush())
	}
	fmt.Fprintf(out, "%s %d, skipped %d\n", did, len(queues), len(skipped))
	for _, name := range queues {
		fmt.Fprintf(out, "%s %s\n", did, safe.Text(name))
	}
	for _, s := range skipped {
		fmt.Fprintf(out, "skipped %s: %s\n", safe.Text(s.Queue), safe.Text(veiled(s.Reason)))
	}
	return out.Flush()
}

// remark tells who paused queues what else there is to know: how many jobs go on
// running, and that a queue has none at all, as one has whose name is misspelt.
func (p Printer) remark(ctx context.Context, q *queue.Queue, paused []string) {
	depths, err := q.Depth(ctx, 1)
	if err != nil {
		return // the queues are paused, and that was the question
	}
	for _, name := range paused {
		i := slices.IndexFunc(depths.Queues, func(d queue.QueueDepth) bool { return d.Queue == name })
		switch {
		case i < 0:
			fmt.Fprintf(p.Err, "leasetop: queue %q has no job waiting, running or dead: is the name right?\n", name)
		case depths.Queues[i].Processing > 0:
			fmt.Fprintf(p.Err, "leasetop: queue %q: its running jobs go on (%d)\n", name, depths.Queues[i].Processing)
		}
	}
}

// byWhom tells who paused a queue, and why when they said so.
func byWhom(p *queue.Pause) string { return "by " + said(p.By, p.Why) }

// said is who, and why when they said so.
func said(who, why string) string {
	if why == "" {
		return who
	}
	return who + ": " + why
}

// others returns the names that are not among those, each once.
func others(names, those []string) (rest []string) {
	for _, name := range names {
		if !slices.Contains(those, name) && !slices.Contains(rest, name) {
			rest = append(rest, name)
		}
	}
	return rest
}
