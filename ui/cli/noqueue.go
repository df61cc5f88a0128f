package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// noQueueLook is how many of the newest jobs are looked at for one of a queue.
const noQueueLook = 10_000

// noQueue says that no queue of a name is known, and which may be meant; "" when one is, or
// when that cannot be told: a queue that only has jobs long completed, in a large table, is
// in no index and not among the newest.
func noQueue(ctx context.Context, q *queue.Queue, name string) (string, error) {
	depths, err := q.Depth(ctx, 1)
	if err != nil {
		return "", err
	}
	pauses, err := known(q.Pauses(ctx))
	if err != nil {
		return "", err
	}
	names, sure := make([]string, 0, len(depths.Queues)+len(pauses)), depths.CompletedExact
	for _, d := range depths.Queues {
		names = append(names, d.Queue)
	}
	for _, p := range pauses {
		names = append(names, p.Queue)
	}
	for _, one := range names {
		if one == name {
			return "", nil
		}
	}
	if !sure {
		found, err := q.Scan(ctx, queue.Filter{Queue: name}, queue.Stretch{Limit: 1, Look: noQueueLook})
		if err != nil || len(found.Jobs) > 0 {
			return "", err
		}
	}
	near := filter.Nearest(name, names)
	if !sure && near == "" {
		return "", nil
	}
	text := fmt.Sprintf("no queue %q: is the name right?", name)
	if near != "" {
		text += " " + near + "?"
	}
	return text, nil
}

// noQueues is noQueue of the only queues that a filter asks for; "" when it asks for none,
// or one of them is known.
func noQueues(ctx context.Context, q *queue.Queue, names []string) (string, error) {
	var said []string
	for _, name := range names {
		text, err := noQueue(ctx, q, name)
		if err != nil || text == "" {
			return "", err
		}
		said = append(said, text)
	}
	return strings.Join(said, "; "), nil
}
