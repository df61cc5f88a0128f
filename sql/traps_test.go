package sql_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Operators have no names that could be qualified and still be read. Where the types of both
// sides are exactly those of one of PostgreSQL's, that one is found first, whatever a schema
// on the search_path has. This makes one in public for every pair of types for which
// PostgreSQL has none exactly, and converts: each would win there, and raises an error.
const plantOperators = `
	create or replace function pg_temp.fits(have oid, want oid) returns boolean language sql as $$
		select have = want
			or exists (select from pg_cast where castsource = have and casttarget = want and castcontext = 'i')
			or want in ('anyelement'::regtype, 'anycompatible'::regtype)
			or want in ('anynonarray'::regtype, 'anycompatiblenonarray'::regtype) and (select typelem = 0 or typlen > 0 from pg_type where oid = have)
			or want in ('anyarray'::regtype, 'anycompatiblearray'::regtype) and (select typelem <> 0 and typlen = -1 from pg_type where oid = have) $$;
	do $do$
	declare
		one record;
		arguments text;
	begin
		for one in
			with types as materialized (
				select oid from pg_type where typnamespace = 'pg_catalog'::regnamespace and typname in
					('text', 'name', 'char', 'varchar', 'int2', 'int4', 'int8', 'float8', 'numeric', 'bool', 'timestamptz', 'timestamp', 'interval', 'jsonb', 'jsonpath',
					 'oid', 'regclass', 'regnamespace', 'regrole', 'xid', 'xid8', 'inet', 'pg_lsn', '_text', '_int8', '_name', '_bool')),
			operators as materialized (
				select oprname, oprleft, oprright, oprresult from pg_operator where oprnamespace = 'pg_catalog'::regnamespace and oprname = any ($$OPERATORS$$::text[])),
			fitting as materialized (select have.oid as have, want, pg_temp.fits(have.oid, want) as fits
				from types as have, (select oprleft as want from operators union select oprright from operators) as wanted)
			select oprname, l.have as l, r.have as r, min(oprresult::regtype::text) as result
			from operators join fitting as l on l.want = oprleft and l.fits join fitting as r on r.want = oprright and r.fits
			where not exists (select from pg_operator as exact where exact.oprnamespace = 'pg_catalog'::regnamespace
				and exact.oprname = operators.oprname and exact.oprleft = l.have and exact.oprright = r.have)
			group by 1, 2, 3
		loop
			arguments := format('(%s, %s)', one.l::regtype, one.r::regtype);
			if one.result ~ '^any' then one.result := one.l::regtype; end if;
			execute format('create function public.%I%s returns %s language plpgsql as $$ begin raise exception using message = ''trap: %s''; end $$',
				'trap ' || one.oprname, arguments, one.result, one.oprname || arguments);
			execute format('create operator public.%s (leftarg = %s, rightarg = %s, function = public.%I)', one.oprname, one.l::regtype, one.r::regtype, 'trap ' || one.oprname);
		end loop;
	end $do$`

// An operator, by its characters.
var operator = regexp.MustCompile("[-+*/<>=~!@#%^&|?]+")

// No statement means anything else on a database where everybody may create in public, and
// somebody has put something of theirs there for each operator and function.
func TestStatementsUseNothingOfOthers(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, admin := connect(t, url), connect(t, url)
	exec(t, admin, "set search_path = pg_catalog")
	schema, err := leasesql.ForSchema("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tables := range []string{"demo_tables", "scenario_tables"} {
		exec(t, admin, schema.Query(tables), pgx.QueryExecModeSimpleProtocol)
	}
	all := queries(t)
	names := map[string]bool{}
	for _, text := range all {
		for _, name := range operator.FindAllString(quotes.ReplaceAllString(text, ""), -1) {
			names[name] = true
		}
	}
	delete(names, "=>")
	list := `{"` + strings.Join(slices.Sorted(maps.Keys(names)), `","`) + `"}`
	exec(t, admin, strings.Replace(plantOperators, "OPERATORS", list, 1), pgx.QueryExecModeSimpleProtocol)
	// Those that the grammar itself qualifies.
	for _, signature := range []string{"unnest(anyarray, anyarray)", "unnest(bigint[], text[])", "extract(text, timestamptz)", "extract(text, interval)"} {
		exec(t, admin, "create function public."+signature+" returns text language sql as 'select null::text'")
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := schema.Query(name)
		parsed, err := conn.Prepare(t.Context(), name, text)
		if err != nil {
			if code(err) != "42601" { // several commands
				t.Errorf("%s.sql: %v", name, err)
			}
			continue
		}
		var types []string
		for _, oid := range parsed.ParamOIDs {
			types = append(types, value[string](t, admin, "select format_type($1, null)", oid))
		}
		// PostgreSQL notes what the body of such a function is made of, all but its own.
		make := fmt.Sprintf("create function public.%q (%s) returns void language sql begin atomic %s; end", "of "+name, strings.Join(types, ", "), text)
		if _, err := conn.Exec(t.Context(), make); err != nil {
			if code(err) != "0A000" { // LISTEN, VACUUM, and what else calls nothing
				t.Errorf("%s.sql: %v", name, err)
			}
			continue
		}
		checked++
		for _, theirs := range values(t, admin, `select pg_describe_object(refclassid, refobjid, refobjsubid) from pg_depend
			where classid = 'pg_proc'::regclass and objid = (select oid from pg_proc where proname = $1)
				and (refclassid, refobjid) in (select 'pg_operator'::regclass, oid from pg_operator where oprnamespace = 'public'::regnamespace
					union all select 'pg_proc'::regclass, oid from pg_proc where pronamespace = 'public'::regnamespace)`, "of "+name) {
			t.Errorf("%s.sql takes %s: make the types of both sides exactly those of PostgreSQL's", name, theirs)
		}
	}
	if checked < 100 {
		t.Errorf("only %d statements were looked at", checked)
	}
}

func values(t *testing.T, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What a function of the schema calls is found each time that it is called, by the
// search_path of whoever inserts a job. So names in it are qualified, and operators too.
func TestFunctionsQualifyTheirNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	functions := builtIn(t, conn)
	written := regexp.MustCompile(`OPERATOR\(pg_catalog\.[^)]+\)|:=|-1\b`)
	resolved := regexp.MustCompile(`\b(?:NOT )?IN \(|\bnullif\(|\bIS (?:NOT )?DISTINCT FROM\b|\bCASE \w|\bLIKE\b|\bBETWEEN\b`)
	names := values(t, conn, "select proname from pg_proc where pronamespace = 'leasetop'::regnamespace")
	for _, name := range names {
		text := value[string](t, conn, "select prosrc from pg_proc where pronamespace = 'leasetop'::regnamespace and proname = $1", name)
		if want := qualify(text, functions); want != text {
			t.Errorf("the body of %s has names that are not qualified: write\n%s", name, want)
		}
		bare := written.ReplaceAllString(quotes.ReplaceAllString(text, ""), "")
		for _, by := range append(operator.FindAllString(bare, -1), resolved.FindAllString(bare, -1)...) {
			if by != "CASE WHEN" && by != "CASE W" {
				t.Errorf("the body of %s has the operator %s: write OPERATOR(pg_catalog.…)", name, by)
			}
		}
	}
	if len(names) < 6 {
		t.Errorf("only %q were looked at", names)
	}
}

// The owner migrates, and everybody works, on a database where somebody put what he could
// in front of PostgreSQL's own, even of the same types.
func TestMigrationsAndTriggersUseNothingOfOthers(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	admin := connect(t, url)
	exec(t, admin, `set search_path = pg_catalog; create schema evil`, pgx.QueryExecModeSimpleProtocol)
	for _, trap := range []string{
		"format(text, text)", "format(text, text, text)", "format(text, text, regclass, text)", "format(text, variadic text[])", "jsonb_path_query_array(jsonb, text)", "jsonb_path_query_array(jsonb, jsonpath)",
		"jsonb_build_object(text, int, text, timestamptz, text, text, text, text, text, text)", "jsonb_build_object(variadic text[])", "jsonb_build_object(variadic anyarray)",
		"left(text, int)", "right(text, int)", "ltrim(text, text)", "rtrim(text, text)", "split_part(text, text, int)", "regexp_replace(text, text, text, text)", "starts_with(text, text)",
		"pg_notify(text, text)", "current_setting(text)", "current_setting(text, boolean)", "pg_notification_queue_usage()", "now()", "set_config(text, text, boolean)", "isfinite(timestamptz)",
		"octet_length(text)", "jsonb_typeof(jsonb)", "aclexplode(aclitem[])", "bool_or(boolean)", "to_regclass(text)", "to_regnamespace(text)", "current_schema()", "pg_advisory_xact_lock(bigint)",
	} {
		exec(t, admin, "create function evil."+trap+" returns text language plpgsql as $$ begin raise exception 'trap'; end $$")
	}
	for _, trap := range []string{"= text text", "<> text text", "= name text", "= name name", "= oid oid", "<> oid oid", "= bool bool", ">= int4 int4", "> float8 float8", "> float8 numeric", "|| text text", "|| jsonb jsonb", "-> jsonb int4", "->> jsonb text", "<= timestamptz timestamptz", "- timestamptz timestamptz", "= oid regclass", "= oid int4", "<> oid int4"} {
		part := strings.Fields(trap)
		exec(t, admin, fmt.Sprintf(`create function evil."trap %s"(%s, %s) returns boolean language plpgsql as $$ begin raise exception 'trap'; end $$`, part[0], part[1], part[2]))
		exec(t, admin, fmt.Sprintf(`create operator evil.%[1]s (leftarg = %[2]s, rightarg = %[3]s, function = evil."trap %[1]s")`, part[0], part[1], part[2]))
	}
	hostile := config(t, url)
	hostile.RuntimeParams["search_path"] = "evil, pg_catalog"
	steps, err := leasesql.Migrate(t.Context(), hostile, "")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(t.Context(), hostile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, statement := range []string{
		"insert into leasetop.jobs (queue) values ('emails'), ('dead')",
		"update leasetop.jobs set last_error = 'SMTP 421 at 10.0.0.1', status = 'dead', errors = leasetop.with_attempt(errors, 1, 'w', 'retry', 'x')",
		"select leasetop.facts(jobs, true) from leasetop.jobs",
		"delete from leasetop.jobs", "insert into leasetop.jobs (queue, status) values ('emails', 'failed')", "truncate leasetop.jobs",
		"insert into leasetop.queues (queue, paused_at, paused_by) values ('emails', pg_catalog.now(), 'ann')",
		"update leasetop.queues set paused_at = null, paused_by = null", "delete from leasetop.queues",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for range steps {
		if _, err := leasesql.MigrateDown(t.Context(), hostile, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := leasesql.Migrate(t.Context(), hostile, ""); err != nil {
		t.Fatal(err)
	}
}
