package sql_test

import (
	"strings"
	"testing"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// boundless are the texts that have no bound, with what bounds or excuses them.
var boundless = map[string]string{
	"jobs.last_error":           "a worker in another language writes what it likes",
	"jobs.fingerprint":          "generated",
	"jobs.status":               "one of five",
	"redrive_plans.state":       "one of nine",
	"redrive_jobs.state":        "one of four",
	"redrive_jobs.status":       "taken from a job",
	"redrive_jobs.cancelled_by": "taken from a job",
}

// Every text that stands beside a job has a bound: what somebody wrote there is read whole by
// every list and screen.
func TestTextsHaveABound(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	for _, column := range values(t, conn, `select relname || '.' || attname from pg_class join pg_attribute on attrelid = pg_class.oid
		where relnamespace = 'leasetop'::regnamespace and relkind = 'r' and atttypid = 'text'::regtype and attnum > 0 and not attisdropped`) {
		table, name, _ := strings.Cut(column, ".")
		if table == "jobs_archive" && !strings.HasPrefix(name, "archived_") {
			continue // what jobs took
		}
		bounded := value[bool](t, conn, `select exists (select from pg_constraint
			where conrelid = $1::regclass and contype = 'c' and pg_get_constraintdef(oid) ~ ('octet_length\(' || $2 || '\) (<=|>=)'))`, "leasetop."+table, name)
		if _, excused := boundless[column]; bounded == excused {
			t.Errorf("%s: bounded %v, excused %v", column, bounded, excused)
		}
	}
}

// A name of 8 kB is taken, and a longer one is not; what was there before the bound is left,
// and its job is claimed, or given back when its lease runs out.
func TestLongNamesAreRefused(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	for bounded := true; bounded; {
		step, err := leasesql.MigrateDown(t.Context(), config(t, url), "")
		if err != nil {
			t.Fatal(err)
		}
		bounded = step.File != "00021_bounds.sql"
	}
	conn := connect(t, url)
	exec(t, conn, `insert into leasetop.jobs (id, queue, status, locked_by, lease_expires_at) values (1, 'emails', 'processing', repeat('x', 10000), now() - interval '1 hour')`)
	exec(t, conn, `insert into leasetop.jobs (id, queue, cancelled_by) values (2, 'emails', repeat('x', 10000))`)
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, `update leasetop.jobs set status = 'processing', locked_by = repeat('x', 8192), lease_expires_at = now() where id = 2`)
	exec(t, conn, `update leasetop.jobs set status = 'pending', locked_by = null, lease_expires_at = null where id = 1`)
	for _, statement := range []string{
		`update leasetop.jobs set locked_by = repeat('x', 8193)`,
		`insert into leasetop.operator_log (by_whom, what, reason) values ('ann', 'pause', repeat('x', 8193))`,
		`insert into leasetop.queues (queue, paused_at, paused_by) values ('emails', now(), repeat('x', 8193))`,
	} {
		if _, err := conn.Exec(t.Context(), statement); code(err) != "23514" {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
