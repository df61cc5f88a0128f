package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
)

// Whoever gives up in the middle learns exactly what was done: the transaction under
// way is finished, and the next is not begun.
func TestActCalledOffSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'emails', 'dead' from generate_series(1, $1)", 3*actBatch)
	ids := must[[]int64](t)(q.DeadIDs(t.Context(), ""))
	locker := begin(t, q)
	must[any](t)(locker.Exec(t.Context(), "select from leasetop.jobs where id = $1 for update", ids[actBatch+7]))

	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		done Done
		err  error
	}
	ended := make(chan result, 1)
	go func() {
		done, err := q.Discard(ctx, "ann", "", ids...)
		ended <- result{done, err}
	}()
	blocked(t, q, locker.Conn())
	cancel()
	ok(t, locker.Rollback(t.Context()))
	r := <-ended
	if !errors.Is(r.err, context.Canceled) || len(r.done.IDs) != 2*actBatch || len(r.done.Skipped) != 0 {
		t.Errorf("%d discarded, %d skipped, %v; want two batches of %d", len(r.done.IDs), len(r.done.Skipped), r.err, actBatch)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs_archive where id = any($1)", r.done.IDs); n != 2*actBatch || count(t, q, "select count(*) from leasetop.jobs") != actBatch {
		t.Errorf("%d in the archive", n)
	}
}

// blocked returns when somebody waits for a lock of this session.
func blocked(t *testing.T, q *Queue, by *pgx.Conn) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for count(t, q, "select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", by.PgConn().PID()) == 0 {
		<-look.C
	}
}

// What hangs is not waited for without end, and what nobody wants any more is not begun.
func TestFinishingOutlastsItsCallerByAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := time.Now()
		err := finishing(ctx, func(inner context.Context) error {
			cancel()
			<-inner.Done()
			return inner.Err()
		})
		if took := time.Since(gaveUp); !errors.Is(err, context.Canceled) || took != finishPatience {
			t.Errorf("hung for %v, %v", took, err)
		}
		if err := finishing(ctx, func(context.Context) error { t.Error("begun"); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("begun too late: %v", err)
		}
	})
}
