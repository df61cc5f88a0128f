package faults

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

// DropReadyIndex drops the index that claims rely on, which then read the whole table.
// Work goes on meanwhile. It waits for the transactions that use the index, and does
// nothing when there is none. Only the owner of the table may.
func DropReadyIndex(ctx context.Context, q *queue.Queue) error {
	if _, err := q.Pool().Exec(ctx, q.Schema().Query("fault_drop_ready_index")); err != nil {
		return fmt.Errorf("drop the ready index: %w", err)
	}
	return nil
}

// lookAtProgress is how often BuildReadyIndex asks how far it has come.
const lookAtProgress = 100 * time.Millisecond

// BuildReadyIndex builds the index that claims rely on, exactly as the migration does,
// while work goes on. What an interrupted build left is dropped first; an index that is
// whole stays. told, which may be nil, is called now and then with how many blocks of the
// table were read, of how many. It waits for every older transaction, [PinVacuum]'s too.
// When ctx ends first the index is left unusable, until it is built again.
func BuildReadyIndex(ctx context.Context, q *queue.Queue, told func(done, of int64)) error {
	err := buildReadyIndex(ctx, q, told)
	for range buildTries {
		if !concurrently(err) {
			break
		}
		rest(ctx, lookAtProgress)
		err = buildReadyIndex(ctx, q, told)
	}
	if err != nil {
		return fmt.Errorf("build the ready index: %w", err)
	}
	return nil
}

// buildTries is how often the building begins anew, when a session that was interrupted has
// not yet let go of the index: the server goes on with it for a moment.
const buildTries = 50

// concurrently tells whether two sessions changed the catalogue's entry of the index at a
// time, which the server calls an internal error.
func concurrently(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "XX000"
}

func buildReadyIndex(ctx context.Context, q *queue.Queue, told func(done, of int64)) error {
	conn, err := q.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	there, whole, err := readyIndexState(ctx, conn, q)
	if err != nil || whole {
		return err
	}
	if there {
		if _, err := conn.Exec(ctx, q.Schema().Query("fault_drop_ready_index")); err != nil {
			return err
		}
	}
	if told != nil {
		building, built := context.WithCancel(ctx)
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			watchIndex(building, q, conn.Conn().PgConn().PID(), told)
		}()
		defer func() {
			built()
			<-watched
		}()
	}
	_, err = conn.Exec(ctx, q.Schema().Query("fault_build_ready_index"))
	return err
}

// readyIndexState tells whether the index is there, and whether it is whole.
func readyIndexState(ctx context.Context, on interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}, q *queue.Queue,
) (there, whole bool, err error) {
	err = on.QueryRow(ctx, q.Schema().Query("fault_index_state")).Scan(&there, &whole)
	return there, whole, err
}

// theIndex is what a [hold] on the missing index is of.
const theIndex = "index"

// missingIndex is the fault that the index is not there, by whomever; held is ours until it
// is healed.
func missingIndex(q *queue.Queue, held *hold) *Active {
	var building atomic.Bool
	var done, of atomic.Int64
	return &Active{
		heal: func(ctx context.Context) error {
			building.Store(true)
			defer building.Store(false)
			err := BuildReadyIndex(ctx, q, func(read, blocks int64) {
				done.Store(read)
				of.Store(blocks)
			})
			if err == nil {
				held.letGo()
			}
			return err
		},
		progress: func() string {
			switch total := of.Load(); {
			case !building.Load():
				return "claims read the whole table"
			case total == 0:
				return "building it again"
			default:
				return fmt.Sprintf("building it again: %d %% read", 100*done.Load()/total)
			}
		},
	}
}

// watchIndex tells how far the building of an index has come, until ctx ends.
func watchIndex(ctx context.Context, q *queue.Queue, by uint32, told func(done, of int64)) {
	tick := time.NewTicker(lookAtProgress)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var done, of int64
		row := q.Pool().QueryRow(ctx, q.Schema().Query("fault_index_progress"), int32(by))
		if err := row.Scan(&done, &of); err == nil { // else there is nothing to tell: see pgx.ErrNoRows
			told(done, of)
		}
	}
}
