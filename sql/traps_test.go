package sql_test

import (
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
