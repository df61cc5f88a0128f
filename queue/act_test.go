package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	ids := deadIDs(t, q, "")
	exec(t, q, "create function slow() returns trigger language plpgsql set lock_timeout = 0 as $$ begin perform pg_advisory_xact_lock_shared(1); return old; end $$")
	exec(t, q, fmt.Sprintf("create trigger slow before delete on leasetop.jobs for each row when (old.id = %d) execute function slow()", ids[actBatch+7]))
	gate := begin(t, q)
	must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
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
	blocked(t, q, gate.Conn())
	cancel()
	ok(t, gate.Commit(t.Context()))
	r := <-ended
	if !errors.Is(r.err, context.Canceled) || len(r.done.IDs) != 2*actBatch || len(r.done.Skipped) != 0 {
		t.Errorf("%d discarded, %d skipped, %v; want two batches of %d", len(r.done.IDs), len(r.done.Skipped), r.err, actBatch)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs_archive where id = any($1)", r.done.IDs); n != 2*actBatch || count(t, q, "select count(*) from leasetop.jobs") != actBatch {
		t.Errorf("%d in the archive", n)
	}
}

// A transaction that fails when it commits has done nothing, whatever its rows said.
func TestActTellsOnlyWhatWasCommitted(t *testing.T) {
	t.Parallel()
	q := open(t)
	acts := map[string]func(...int64) (int, error){
		"redrive": func(ids ...int64) (int, error) {
			d, err := q.Redrive(t.Context(), "ann", ids...)
			return len(d.IDs), err
		},
		"discard": func(ids ...int64) (int, error) {
			d, err := q.Discard(t.Context(), "ann", "", ids...)
			return len(d.IDs), err
		},
		"cancel": func(ids ...int64) (int, error) {
			d, err := q.Cancel(t.Context(), "ann", ids...)
			return len(d.IDs), err
		},
		"restore": func(ids ...int64) (int, error) {
			d, err := q.Restore(t.Context(), "ann", ids...)
			return len(d.IDs), err
		},
		"purge": func(...int64) (int, error) {
			n, err := q.Purge(t.Context(), Purge{What: PurgeCompleted}, nil)
			return int(n.Deleted), err
		},
	}
	fail := func(table, when string) {
		exec(t, q, "create constraint trigger fail after "+when+" on leasetop."+table+" deferrable initially deferred for each row execute function fail()")
	}
	// Cancelled, for what a trigger raises is about its row alone.
	exec(t, q, "create function fail() returns trigger language plpgsql as $$ begin if old.kind = 'fail' then perform pg_cancel_backend(pg_backend_pid()), pg_sleep(60); end if; return null; end $$")
	fail("jobs", "update or delete")
	fail("jobs_archive", "delete")
	for name, act := range acts {
		status, batch := map[string]Status{"cancel": Pending, "purge": Completed}[name], actBatch
		if status == "" {
			status = Dead
		}
		if name == "purge" {
			batch = purgeBatch
		}
		exec(t, q, "truncate leasetop.jobs; truncate leasetop.jobs_archive")
		exec(t, q, "insert into leasetop.jobs (queue, status, kind, updated_at) select 'emails', $1, case n when $2 then 'fail' else '' end, now() - interval '1 hour' from generate_series(1, $2::int) n", status, batch+7)
		ids := must[[]int64](t)(q.ids(t, "select id from leasetop.jobs order by id"))
		if name == "restore" {
			exec(t, q, "alter table leasetop.jobs disable trigger fail")
			must[Done](t)(q.Discard(t.Context(), "ann", "", ids...))
			exec(t, q, "alter table leasetop.jobs enable trigger fail")
		}
		if n, err := act(ids...); err == nil || !strings.Contains(err.Error(), "cancelled the statement") || n != batch {
			t.Errorf("%s: %d told as done, want the %d of the first transaction; %v", name, n, batch, err)
		}
		left := count(t, q, "select count(*) from leasetop.jobs where status = $1 and errors = '[]'", status)
		if name == "restore" {
			left = count(t, q, "select count(*) from leasetop.jobs_archive")
		}
		if left != 7 {
			t.Errorf("%s: %d are as they were, want 7", name, left)
		}
	}
}

// ids reads ids by a statement of the test's own.
func (q *Queue) ids(t testing.TB, sql string) ([]int64, error) {
	rows, err := q.pool.Query(t.Context(), sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// blocked returns when somebody waits for a lock of this session.
func blocked(t *testing.T, q *Queue, by *pgx.Conn) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for giveUp := time.Now().Add(time.Minute); count(t, q, "select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", by.PgConn().PID()) == 0; <-look.C {
		if time.Now().After(giveUp) {
			t.Fatal("nobody waits for the lock")
		}
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

// Somebody gave the table another constraint, which a few of the jobs do not meet.
func TestJobThatTheTableDoesNotTakeIsSkippedAlone(t *testing.T) {
	t.Parallel()
	q := open(t)
	var ids []int64
	for n := range 5 {
		ids = append(ids, buried(t, q, NewJob{Payload: fmt.Appendf(nil, `{"n": %d}`, n)}))
	}
	check := func(what string, done Done, skipped ...int64) {
		t.Helper()
		var got []int64
		for _, s := range done.Skipped {
			got = append(got, s.ID)
			if !strings.Contains(s.Reason, "few_only") {
				t.Errorf("%s: job %d skipped: %s", what, s.ID, s.Reason)
			}
		}
		if !slices.Equal(got, skipped) || len(done.IDs) != len(ids)-len(skipped) {
			t.Errorf("%s: done %v, skipped %v; want %v skipped", what, done.IDs, got, skipped)
		}
	}
	exec(t, q, "alter table leasetop.jobs_archive add constraint few_only check (payload ->> 'n' <> '3')")
	check("discard", must[Done](t)(q.Discard(t.Context(), "ann", "", ids...)), ids[3])
	exec(t, q, "alter table leasetop.jobs_archive drop constraint few_only")
	must[Done](t)(q.Discard(t.Context(), "ann", "", ids[3]))

	exec(t, q, "alter table leasetop.jobs add constraint few_only check (payload ->> 'n' <> '1' and payload ->> 'n' <> '2')")
	check("restore", must[Done](t)(q.Restore(t.Context(), "ann", ids...)), ids[1], ids[2])
}
