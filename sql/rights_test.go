package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Each statement runs with exactly the rights that are said of it, and with none of
// them left out, whatever the schema's name.
func TestRightsAreThoseThatStatementsNeed(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	if _, err := leasesql.Migrate(t.Context(), config(t, url), "ours"); err != nil {
		t.Fatal(err)
	}
	schema, err := leasesql.ForSchema("ours")
	if err != nil {
		t.Fatal(err)
	}
	admin := connect(t, url)
	for _, tables := range []string{"demo_tables", "scenario_tables"} {
		if _, err := admin.Exec(t.Context(), schema.Query(tables), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, admin, "alter sequence ours.jobs_id_seq restart 1000")
	exec(t, admin, "revoke execute on all functions in schema ours from public")
	role, name := as(t, url)
	conn, err := pgx.ConnectConfig(t.Context(), role)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) }) // before the role is dropped
	exec(t, admin, schema.GrantUsage(name))
	checked := 0
	for file := range queries(t) {
		if strings.HasPrefix(file, "migration") || strings.HasSuffix(file, "_ready_index") || slices.Contains([]string{"create_schema", "demo_tables", "scenario_tables", "scenario_make_schema", "scenario_mark_schema", "scenario_drop_schema", "scenario_drop_publication"}, file) {
			continue // for whoever owns the schema
		}
		try := func() error { return runs(t, admin, conn, schema.Query(file)) }
		rights := schema.Rights(file)
		for _, right := range rights {
			exec(t, admin, right.Grant(name))
		}
		if err := try(); err != nil {
			t.Errorf("%s with %v: %v", file, rights, err)
		}
		for _, right := range rights {
			for _, privilege := range right.Privileges {
				without := right
				without.Privileges = []string{privilege}
				revoke := strings.NewReplacer("GRANT ", "REVOKE ", " TO ", " FROM ").Replace(without.Grant(name))
				exec(t, admin, revoke)
				if err := try(); code(err) != "42501" || !strings.Contains(err.Error(), right.Object) {
					t.Errorf("%s after %s: %v", file, revoke, err)
				}
				exec(t, admin, without.Grant(name))
				checked++
			}
		}
		exec(t, admin, fmt.Sprintf("revoke all on all tables in schema ours from %[1]s; revoke all on all sequences in schema ours from %[1]s; revoke all on all functions in schema ours from %[1]s", name), pgx.QueryExecModeSimpleProtocol)
	}
	if checked < 60 {
		t.Errorf("only %d rights were left out", checked)
	}
}

// sample is a value of each type that parameters have.
var sample = map[string]string{"timestamp with time zone": "now", "timestamp with time zone[]": "{now}", "jsonb[]": "{1}"}

// runs tells whether conn may run a statement, on a running job, a dead one and one in
// the archive, and leaves no trace of it.
func runs(t *testing.T, admin, conn *pgx.Conn, text string) error {
	t.Helper()
	statement, err := admin.Prepare(t.Context(), text, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var values []string
	for _, oid := range statement.ParamOIDs {
		name := value[string](t, admin, "select format_type($1, null)", oid)
		v, known := sample[name]
		switch {
		case !known && strings.HasSuffix(name, "[]"):
			v = "{1}"
		case !known:
			v = "1"
		}
		values = append(values, "'"+v+"'")
	}
	arguments := ""
	if len(values) > 0 {
		arguments = "(" + strings.Join(values, ",") + ")"
	}
	writes := func(verb string) bool { return strings.Contains(text, verb) }
	if len(statement.Fields) == 0 && !slices.ContainsFunc([]string{"INSERT", "UPDATE", "DELETE"}, writes) { // LISTEN, SET
		_, err := conn.Exec(t.Context(), text)
		return err
	}
	for _, there := range []string{
		"insert into ours.jobs (id, queue, status, locked_by, lease_expires_at) values (1, '1', 'processing', '1', now() - interval '1 hour')",
		"insert into ours.jobs (id, queue, status) values (1, '1', 'dead')",
		`insert into ours.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, archived_by)
			values (1, '1', '{}', 'dead', 0, 1, now(), now(), now(), '', '[]', 'ann')`,
	} {
		exec(t, admin, "truncate ours.jobs, ours.jobs_archive")
		exec(t, admin, there)
		_, err := conn.Exec(t.Context(), "deallocate all; begin; prepare it as "+text+"; explain analyze execute it"+arguments, pgx.QueryExecModeSimpleProtocol)
		exec(t, conn, "rollback")
		if err != nil && code(err) != "22023" { // lockers_several: nobody has locked the row, which it could see
			return err
		}
	}
	return nil
}
