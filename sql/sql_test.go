package sql_test

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func queries(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(leasesql.Queries(), "*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(leasesql.Queries(), file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(file, ".sql")] = string(text)
	}
	return all
}

var parameter = regexp.MustCompile(`\$[0-9]+`)

// A reader who knows only the comment can use the statement.
func TestEveryQueryOpensWithAComment(t *testing.T) {
	t.Parallel()
	for name, text := range queries(t) {
		var comment, statement strings.Builder
		for line := range strings.Lines(text) {
			if statement.Len() == 0 && strings.HasPrefix(line, "-- ") {
				comment.WriteString(line)
			} else {
				statement.WriteString(line)
			}
		}
		if comment.Len() == 0 {
			t.Errorf("%s.sql opens without a comment", name)
		}
		for _, p := range parameter.FindAllString(statement.String(), -1) {
			if !strings.Contains(comment.String(), p) {
				t.Errorf("the comment of %s.sql does not tell what %s is", name, p)
			}
		}
	}
}

// Every statement parses, and means something, against the migrated schema, and
// names no other schema than the chosen one.
func TestEveryQueryPrepares(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "leasetop_x", "x", "a_schema_whose_name_has_forty_characters"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.Empty(t)
			if _, err := leasesql.Migrate(t.Context(), config(t, url), name); err != nil {
				t.Fatal(err)
			}
			schema, err := leasesql.ForSchema(name)
			if err != nil {
				t.Fatal(err)
			}
			conn := connect(t, url)
			exec(t, conn, "set search_path = ''")
			// The demonstration's and the scenarios' tables are no migration.
			for _, tables := range []string{"demo_tables", "scenario_tables"} {
				if _, err := conn.Exec(t.Context(), schema.Query(tables), pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatal(err)
				}
			}
			for query := range queries(t) {
				_, err := conn.Prepare(t.Context(), query, schema.Query(query))
				if code(err) == "42601" && strings.Contains(err.Error(), "multiple commands") {
					_, err = conn.Exec(t.Context(), schema.Query(query), pgx.QueryExecModeSimpleProtocol)
				}
				if err != nil {
					t.Errorf("%s: %v", query, err)
				}
			}
			if name != "" && value[bool](t, conn, "select exists (select from pg_namespace where nspname = 'leasetop')") {
				t.Error("something went to the default schema")
			}
			if got := value[string](t, conn, "select string_agg(nspname, ' ') from pg_namespace where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')"); got != schema.Name() {
				t.Errorf("schemas %s", got)
			}
		})
	}
}

func TestTwoSchemasInOneDatabase(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	if _, err := leasesql.Migrate(t.Context(), config(t, url), "other"); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	exec(t, conn, "listen other_ready; listen leasetop_ready")
	exec(t, conn, "insert into other.jobs (queue) values ('emails')")
	n, err := conn.WaitForNotification(t.Context())
	if err != nil || n.Channel != "other_ready" || n.Payload != "emails" {
		t.Errorf("notification %+v, %v", n, err)
	}
	if n := value[int](t, conn, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs in the other schema", n)
	}
	if _, err := leasesql.MigrateDown(t.Context(), config(t, url), "other"); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "insert into leasetop.jobs (queue) values ('emails')")
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Jobs", "1jobs", "my-jobs", "my jobs", "jöbs", "a;b", `a"b`, "a'b", "a.b", "a\x00", "x\n", strings.Repeat("a", 41), "pg_jobs", "information_schema", "select", "user", "all",
	} {
		if _, err := leasesql.ForSchema(name); !errors.Is(err, leasesql.ErrSchemaName) || !strings.Contains(fmt.Sprintf("%v", err), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: error %v, want it refused by name", name, err)
		}
	}
	for _, name := range []string{"", "leasetop", "_", "_1", "jobs", "leasetop_leasetop", strings.Repeat("a", 40)} {
		schema, err := leasesql.ForSchema(name)
		if err != nil || schema.Name() != name && name != "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	schema, err := leasesql.ForSchema("q")
	if err != nil || schema.ReadyChannel() != "q_ready" || schema.DeadChannel() != "q_dead" || schema.ControlChannel() != "q_control" || schema.Publication() != "q_jobs" {
		t.Errorf("%+v, %v", schema, err)
	}
}

// The words refused are those that PostgreSQL takes only in quotes, in every place
// where a schema's name stands. Asked of the server in use.
func TestReservedSchemaNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.Empty(t))
	rows, err := conn.Query(t.Context(), "select word from pg_get_keywords()")
	if err != nil {
		t.Fatal(err)
	}
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(words) < 400 {
		t.Fatal(len(words), err)
	}
	for _, word := range words {
		_, refused := leasesql.ForSchema(word)
		_, err := conn.Exec(t.Context(), strings.ReplaceAll(`begin; create schema @;
			create function @.f() returns int language sql as 'select 1';
			create table @.jobs (id int default @.f());
			update @.jobs set id = @.f(); insert into @.jobs select jobs.id from @.jobs;
			alter table @.jobs set (fillfactor = 70); rollback`, "@", word), pgx.QueryExecModeSimpleProtocol)
		if err != nil && code(err) != "42601" {
			t.Fatalf("%s: %v", word, err)
		}
		exec(t, conn, "rollback")
		// Words of newer servers are refused too, so some work on an older one.
		if err != nil && refused == nil {
			t.Errorf("%s is accepted, and PostgreSQL says %v", word, err)
		}
	}
}

func TestQueryPanicsOnlyForAMistakeOfOurs(t *testing.T) {
	t.Parallel()
	schema, err := leasesql.ForSchema("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a statement that is no file")
		}
	}()
	schema.Query("no_such_statement")
}

// What pg_stat_activity shows of a statement says which it is.
func TestQueriesAreNamed(t *testing.T) {
	t.Parallel()
	schema, err := leasesql.ForSchema("q")
	if err != nil {
		t.Fatal(err)
	}
	for name := range queries(t) {
		if text := schema.Query(name); !strings.HasPrefix(text, "/* leasetop "+name+" */ ") || strings.HasSuffix(text, ";") {
			t.Errorf("%s is sent as %.60s", name, text)
		}
	}
}
