package faults

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// TerminateListeners ends the sessions on which workers hear of new work, on the server,
// and returns how many it ended. The workers meant are those whose queues connect under
// one of the application names: see [queue.Options] and [Process]; without a name, those
// of q. It needs the right to end their sessions, as their own role has.
func TerminateListeners(ctx context.Context, q *queue.Queue, names ...string) (ended int, err error) {
	if len(names) == 0 {
		names = []string{q.ConnConfig().RuntimeParams["application_name"]}
	}
	listeners := make([]string, len(names))
	for i, name := range names {
		listeners[i] = workers.ListenerName(name)
	}
	rows, err := q.Pool().Query(ctx, q.Schema().Query("fault_terminate_listeners"), listeners)
	if err != nil {
		return 0, fmt.Errorf("terminate listeners: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return 0, fmt.Errorf("terminate listeners: %w", err)
	}
	return len(pids), nil
}
