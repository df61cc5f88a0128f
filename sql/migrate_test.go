package sql_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// objects lists what there is in a database besides PostgreSQL's own.
func objects(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return value[string](t, conn, `select coalesce(string_agg(what, ' ' order by what), '') from (
		select 'schema ' || nspname from pg_namespace where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')
		union all select relkind::text || ' ' || oid::regclass::text from pg_class where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
		union all select 'function ' || oid::regprocedure::text from pg_proc where pronamespace::regnamespace::text !~ '^(pg_|information_schema)'
		union all select 'publication ' || pubname from pg_publication) as v(what)`)
}

func applied(t *testing.T, url string) (n int) {
	t.Helper()
	steps, err := leasesql.MigrationStatus(t.Context(), config(t, url), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		if step.Version <= int64(i) || !strings.HasSuffix(step.File, ".sql") || step.Applied == step.AppliedAt.IsZero() {
			t.Errorf("step %d: %+v", i, step)
		}
		if step.Applied {
			n++
		}
	}
	return n
}

func TestMigrateUpDownUp(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	conn := connect(t, url)
	steps, err := leasesql.Migrate(t.Context(), config(t, url), "")
	if err != nil || len(steps) == 0 || applied(t, url) != len(steps) {
		t.Fatal(steps, err)
	}
	whole := objects(t, conn)
	exec(t, conn, "insert into leasetop.jobs (queue) values ('emails')")
	if again, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil || len(again) != 0 {
		t.Errorf("up again took %v, %v", again, err)
	}
	if n := value[int](t, conn, "select count(*) from leasetop.jobs"); n != 1 {
		t.Error("up again lost a job")
	}

	for n := len(steps); n > 0; n-- {
		step, err := leasesql.MigrateDown(t.Context(), config(t, url), "")
		if err != nil || step.Version != steps[n-1].Version || step.Applied || applied(t, url) != n-1 {
			t.Fatalf("down from %d: %+v, %v, %d left", n, step, err, applied(t, url))
		}
	}
	if left := objects(t, conn); strings.Contains(left, "jobs") || strings.Contains(left, "function") || strings.Contains(left, "publication") {
		t.Errorf("all the way down, there is still %s", left)
	}
	if _, err := leasesql.MigrateDown(t.Context(), config(t, url), ""); !errors.Is(err, leasesql.ErrNoStep) {
		t.Errorf("down from nothing: %v", err)
	}

	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	if got := objects(t, conn); got != whole {
		t.Errorf("up again made\n%s\nnot\n%s", got, whole)
	}
}

func TestMigrationStatusChangesNothing(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	conn := connect(t, url)
	before := objects(t, conn)
	if n := applied(t, url); n != 0 {
		t.Errorf("%d steps applied", n)
	}
	if after := objects(t, conn); after != before {
		t.Errorf("there is now %s", after)
	}
	exec(t, conn, "create schema leasetop")
	if n := applied(t, url); n != 0 {
		t.Errorf("%d steps applied in an empty schema", n)
	}
}

// Wherever the server stands, the time of a step is told right.
func TestMigrationTimesAreTrue(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	exec(t, connect(t, url), `do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo'); end $$`)
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	steps, err := leasesql.MigrationStatus(t.Context(), config(t, url), "")
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(steps[0].AppliedAt); age.Abs() > time.Hour {
		t.Errorf("a step was taken at %v, %v ago", steps[0].AppliedAt, age)
	}
}

func TestMigrateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := leasesql.Migrate(t.Context(), config(t, "postgres://nobody@127.0.0.1:1/none?connect_timeout=1"), ""); err == nil {
		t.Error("no error without a server")
	}
	if _, err := leasesql.Migrate(t.Context(), config(t, testdb.Empty(t)), "select"); !errors.Is(err, leasesql.ErrSchemaName) {
		t.Errorf("error %v", err)
	}
	if _, err := leasesql.MigrationStatus(t.Context(), config(t, testdb.Empty(t)), "select"); !errors.Is(err, leasesql.ErrSchemaName) {
		t.Errorf("error %v", err)
	}
}

// The publication belongs to the database, so it is left behind when somebody
// drops the schema.
func TestSchemaIsMadeAgainAfterItWasDropped(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	before := objects(t, conn)
	if _, err := conn.Exec(t.Context(), "drop schema leasetop cascade"); err != nil {
		t.Fatal(err)
	}
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	if after := objects(t, conn); after != before {
		t.Errorf("made again: %s\nwant %s", after, before)
	}
}

// Roles with rights of their own on the jobs go on working when the schema is brought
// up to date: what stands beside jobs takes over their rights.
func TestNewTablesTakeOverTheRightsOnJobs(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	downTo(t, url, 3)
	_, role := as(t, url, "grant usage on schema leasetop to ROLE", "grant select, update on leasetop.jobs to ROLE")
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	for _, table := range []string{"queues", "jobs_archive", "chores"} {
		for right, want := range map[string]bool{"select": true, "update": true, "insert": false, "delete": false} {
			if got := value[bool](t, conn, "select has_table_privilege($1, $2, $3)", role, "leasetop."+table, right); got != want {
				t.Errorf("%s on %s: %v, want %v as on jobs", right, table, got, want)
			}
		}
	}
}

// Whoever could change jobs in any way may write the operator log, and not delete from
// it; whoever could look at jobs may look at it.
func TestOperatorLogTakesOverTheRightsOnJobs(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	downTo(t, url, 3)
	wanted := map[string]map[string]bool{}
	for _, right := range []string{"select", "insert", "update", "delete"} {
		_, role := as(t, url, "grant "+right+" on leasetop.jobs to ROLE")
		writes := right != "select"
		wanted[role] = map[string]bool{"select": true, "insert": writes, "update": writes, "delete": false}
	}
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	for role, rights := range wanted {
		for right, want := range rights {
			if got := value[bool](t, conn, "select has_table_privilege($1, 'leasetop.operator_log', $2)", role, right); got != want {
				t.Errorf("%s on the log: %v, want %v", right, got, want)
			}
		}
	}
}

// Whoever could redrive before there were plans may start one, without a right to enqueue;
// whoever could only look may only look.
func TestPlansTakeOverTheRightsOnJobs(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	downTo(t, url, 3)
	_, redrives := as(t, url, "grant select, update on leasetop.jobs to ROLE")
	_, looks := as(t, url, "grant select on leasetop.jobs to ROLE")
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	for _, table := range []string{"redrive_plans", "redrive_jobs"} {
		for _, right := range []string{"select", "insert", "update", "delete"} {
			for role, want := range map[string]bool{redrives: right != "delete", looks: right == "select"} {
				if got := value[bool](t, conn, "select has_table_privilege($1, $2, $3)", role, "leasetop."+table, right); got != want {
					t.Errorf("%s on %s: %v, want %v", right, table, got, want)
				}
			}
		}
	}
}

// A database may print times and read strings in its own way.
func TestMigrateUnderUnusualSettings(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{
		"datestyle = 'German, DMY'", "intervalstyle = sql_standard", "standard_conforming_strings = off",
		"bytea_output = escape", "timezone = 'Asia/Kathmandu'", "extra_float_digits = -15", "search_path = ''",
		"default_transaction_isolation = serializable", "check_function_bodies = off", "quote_all_identifiers = on",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			url := testdb.Empty(t)
			conn := connect(t, url)
			exec(t, conn, "alter database "+conn.Config().Database+" set "+setting)
			for _, want := range []int{len(migrationFiles(t)), 0} {
				steps, err := leasesql.Migrate(t.Context(), config(t, url), "")
				if err != nil || len(steps) != want {
					t.Fatalf("took %d steps, %v; want %d", len(steps), err, want)
				}
			}
			if n := applied(t, url); n != len(migrationFiles(t)) {
				t.Errorf("%d steps are applied", n)
			}
		})
	}
}

func migrationFiles(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(leasesql.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return files
}
