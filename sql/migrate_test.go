package sql_test

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

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
		if i > 0 && step.Version <= steps[i-1].Version || !strings.HasSuffix(step.File, ".sql") || step.Applied == step.AppliedAt.IsZero() {
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

// Up works from every step that down reaches.
func TestMigrateUpAgainFromEveryStep(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	conn := connect(t, url)
	exec(t, conn, "create schema leasetop")
	db := stdlib.OpenDB(*config(t, url))
	defer db.Close()
	steps, err := goose.NewProvider(goose.DialectPostgres, db, leasesql.Migrations(), goose.WithTableName("leasetop.migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := objects(t, conn)
	for n := int64(len(steps.ListSources())) - 1; n >= 0; n-- {
		if _, err := steps.DownTo(t.Context(), n); err != nil {
			t.Fatalf("down to %d: %v", n, err)
		}
		if _, err := steps.Up(t.Context()); err != nil {
			t.Fatalf("up again from %d: %v", n, err)
		}
		if got := objects(t, conn); got != whole {
			t.Errorf("up again from %d made\n%s\nnot\n%s", n, got, whole)
		}
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

// A publication that somebody else made under the feed's name is left as it is, up and
// down, and named.
func TestMigrationsLeaveTheirPublicationAlone(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"for all tables", "for table theirs", ""} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			url := testdb.Empty(t)
			conn := connect(t, url)
			exec(t, conn, "create table theirs (id int primary key)")
			exec(t, conn, "create publication leasetop_jobs "+of)
			theirs := func() string {
				return value[string](t, conn, `select p::text || coalesce((select string_agg(prrelid::regclass::text, ' ') from pg_publication_rel where prpubid = p.oid), '') from pg_publication p`)
			}
			before := theirs()
			steps, err := leasesql.Migrate(t.Context(), config(t, url), "")
			if err != nil {
				t.Fatal(err)
			}
			named := func(step leasesql.Migration) bool {
				return len(step.Warnings) == 1 && strings.Contains(step.Warnings[0], "publication leasetop_jobs was made by somebody else and is left alone")
			}
			if theirs() != before || !named(steps[len(steps)-1]) {
				t.Errorf("up: %s, was %s; %+v", theirs(), before, steps)
			}
			for range steps {
				step, err := leasesql.MigrateDown(t.Context(), config(t, url), "")
				if err != nil {
					t.Fatal(err)
				}
				if step.Version == 2 && !named(step) {
					t.Errorf("down: %+v", step)
				}
			}
			if theirs() != before {
				t.Errorf("down: %s, was %s", theirs(), before)
			}
		})
	}
}

// A table that somebody dropped is named, with the cure, and the schema is not called up to
// date: no step makes it again.
func TestMigrateNamesADroppedTable(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"jobs", "operator_log"} {
		url := testdb.New(t)
		conn := connect(t, url)
		exec(t, conn, "drop table leasetop."+table+" cascade")
		_, err := leasesql.Migrate(t.Context(), config(t, url), "")
		if !errors.Is(err, leasesql.ErrTableMissing) || !strings.Contains(err.Error(), ": leasetop."+table+" was dropped") || !strings.Contains(err.Error(), "run DROP SCHEMA leasetop CASCADE and migrate anew") {
			t.Errorf("without %s: %v", table, err)
		}
		steps, told := leasesql.MigrationStatus(t.Context(), config(t, url), "")
		if !errors.Is(told, leasesql.ErrTableMissing) || !strings.Contains(told.Error(), "leasetop."+table+" was dropped") || len(steps) < 20 || !steps[0].Applied {
			t.Errorf("status without %s: %v, %d steps", table, told, len(steps))
		}
		exec(t, conn, "drop schema leasetop cascade")
		if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
			t.Error(err)
		}
	}
}

// Citus takes a constraint only in an ALTER TABLE that does nothing else.
func TestMigrationsAddAConstraintAlone(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(leasesql.Migrations(), "*.sql")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	parentheses := regexp.MustCompile(`\([^()]*\)`)
	for _, file := range files {
		text, err := fs.ReadFile(leasesql.Migrations(), file)
		if err != nil {
			t.Fatal(err)
		}
		for statement := range strings.SplitSeq(quotes.ReplaceAllString(string(text), ""), ";") {
			for parentheses.MatchString(statement) {
				statement = parentheses.ReplaceAllString(statement, "")
			}
			if strings.Contains(statement, "ADD CONSTRAINT") && strings.Contains(statement, ",") {
				t.Errorf("%s: a statement of its own for each ADD CONSTRAINT:\n%s", file, strings.TrimSpace(statement))
			}
		}
	}
}
