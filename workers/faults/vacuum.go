package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// lettingGo is how long the end of a transaction that did nothing may take.
const lettingGo = 5 * time.Second

// PinVacuum begins a long transaction on a connection of its own. Until release is
// called, vacuum removes no row version that was there when it began, nor any that came
// since: dead entries pile up at the head of every index. release may be called twice.
func PinVacuum(ctx context.Context, q *queue.Queue) (release func() error, err error) {
	conn, _, err := q.Connect(ctx, func(c *pgx.ConnConfig) {
		c.RuntimeParams["application_name"] = "leasetop long transaction"
		c.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	})
	if err != nil {
		return nil, fmt.Errorf("hold a snapshot: %w", err)
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err == nil {
		_, err = tx.Exec(ctx, q.Schema().Query("fault_snapshot"))
	}
	end := sync.OnceValue(func() error {
		ending, cancel := context.WithTimeout(context.Background(), lettingGo)
		defer cancel()
		var rolled error
		if tx != nil {
			rolled = tx.Rollback(ending)
		}
		return errors.Join(rolled, conn.Close(ending))
	})
	if err != nil {
		_ = end()
		return nil, fmt.Errorf("hold a snapshot: %w", err)
	}
	return func() error {
		if err := end(); err != nil {
			return fmt.Errorf("let go of a snapshot: %w", err)
		}
		return nil
	}, nil
}
