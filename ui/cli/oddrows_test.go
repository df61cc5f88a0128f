package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// TestEveryListIsPrintedWithOddRows puts infinite times, long texts and numbers that are none
// into the tables, and prints every list for a person and as JSON.
func TestEveryListIsPrintedWithOddRows(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	for _, statement := range []string{
		`do $$ declare c record; begin
			for c in select conrelid::regclass as of, conname from pg_constraint where connamespace = 'leasetop'::regnamespace and contype = 'c' loop
				execute format('alter table %s drop constraint %I', c.of, c.conname);
			end loop; end $$`,
		`insert into leasetop.jobs (queue, status, locked_by, cancelled_by, last_error, lease_expires_at, locked_at)
			select 'q', status, repeat('long ', 100000), repeat('long ', 100000), repeat('long ', 100000), '-infinity', 'infinity'
			from unnest('{pending,processing,completed,failed,dead}'::text[]) as status`,
		`update leasetop.jobs set created_at = 'infinity', updated_at = '294276-01-01' where status <> 'dead'`,
		`insert into leasetop.jobs_archive select id + 100, queue, payload, status, attempts, max_attempts, run_at, last_error, 'infinity', '-infinity', kind, null, errors, 'x', 'infinity', repeat('long ', 100000), repeat('long ', 100000)
			from leasetop.jobs where status = 'dead'`,
		`insert into leasetop.operator_log (at, ended, by_whom, what, filter, reason, ids, error)
			values ('infinity', '-infinity', repeat('long ', 100000), repeat('long ', 100000), repeat('long ', 100000), repeat('long ', 100000), '{NULL, 1}', repeat('long ', 100000)),
			('294276-01-01', '294276-01-01', 'ann', 'cancel', '', '', '{}', '')`,
		`insert into leasetop.redrive_plans (created_at, changed_at, by_whom, state_by, filter, reason, canary, wait, pace, executor, token)
			values ('infinity', '-infinity', repeat('long ', 100000), 'ann', repeat('long ', 100000), 'x', 0, false, 'NaN', repeat('long ', 100000), 'x')`,
		`insert into leasetop.redrive_jobs (plan, position, job_id, state, at, reason) values (1, 1, 1, 'skipped', 'infinity', repeat('long ', 100000))`,
		`update leasetop.redrive_plans set total = 1, reached = 1, skipped = 1`,
		`insert into leasetop.queues values ('q', 'infinity', repeat('long ', 100000), repeat('long ', 100000))`,
	} {
		if _, err := q.Pool().Exec(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	lists := map[string]func(context.Context, Printer) error{
		"jobs": func(ctx context.Context, p Printer) error { return Jobs(ctx, p, q, queue.Filter{}, Part{Limit: 10}) },
		"dead letters": func(ctx context.Context, p Printer) error {
			return DeadLetters(ctx, p, q, filter.Filter{}, Part{Limit: 10})
		},
		"groups":    func(ctx context.Context, p Printer) error { return DeadGroups(ctx, p, q, filter.Filter{}, 100, 10) },
		"archive":   func(ctx context.Context, p Printer) error { return ArchivedJobs(ctx, p, q, "", Part{Limit: 10}) },
		"log":       func(ctx context.Context, p Printer) error { return Log(ctx, p, q, 0, 10) },
		"plans":     func(ctx context.Context, p Printer) error { return Plans(ctx, p, q, 0, 10) },
		"plan":      func(ctx context.Context, p Printer) error { return ShowPlan(ctx, p, q, 1, "skipped") },
		"depth":     func(ctx context.Context, p Printer) error { return Depth(ctx, p, q) },
		"a job":     func(ctx context.Context, p Printer) error { return Show(ctx, p, q, 2, false) },
		"discarded": func(ctx context.Context, p Printer) error { return Show(ctx, p, q, 105, false) },
	}
	for name, list := range lists {
		for _, format := range []Format{Table, JSON} {
			var out, told bytes.Buffer
			err := list(t.Context(), Printer{Out: &out, Err: &told, Format: format})
			if err != nil || out.Len() < 30 || out.Len() > 100_000 {
				t.Errorf("%s as %v: %d bytes, %v", name, format, out.Len(), err)
			}
			if name != "groups" && name != "depth" && name != "dead letters" && name != "jobs" && !strings.Contains(out.String(), "infinity") {
				t.Errorf("%s as %v: nothing marks the odd times: %.300s", name, format, out.String())
			}
		}
	}
}
