package sql_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// purposes are what roles are there for, with the purposes of the README's GRANTs that
// such a role is given.
var purposes = map[string][]string{
	"look":    {"look"},
	"enqueue": {"look", "enqueue"},
	"work":    {"look", "enqueue", "work"},
	"operate": {"look", "enqueue", "work", "operate"},
}

// Whenever a role was given the rights of its purpose, it has the same ones once the schema
// is up to date: those of its purpose, no fewer and no more.
func TestUpgradesKeepRightsToTheirPurpose(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	conn := connect(t, url)
	roles := map[string]string{}
	for purpose := range purposes {
		role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
		exec(t, conn, "create role "+role)
		t.Cleanup(func() {
			conn, err := pgx.Connect(context.Background(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			for _, sql := range []string{"drop owned by " + role, "drop role " + role} {
				if _, err := conn.Exec(context.Background(), sql); err != nil {
					t.Error(err)
				}
			}
		})
		roles[purpose] = role
	}
	files, err := fs.Glob(leasesql.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	rights := func(schema, purpose string) string {
		return value[string](t, conn, `select coalesce(string_agg(distinct relname || ' ' || privilege_type, ', '), '')
			from pg_class, aclexplode(relacl) as acl
			where relnamespace = $1::regnamespace and acl.grantee = $2::regrole`, schema, roles[purpose])
	}
	grant := func(schema string) {
		for purpose, names := range purposes {
			for _, line := range grantsOf(t, names) {
				object, to, _ := strings.Cut(line, " TO ")
				rights, tables, _ := strings.Cut(object, " ON ")
				for table := range strings.SplitSeq(tables, ", ") {
					table = strings.ReplaceAll(table, "leasetop", schema)
					relation := strings.TrimPrefix(table, "SEQUENCE ")
					if strings.HasPrefix(relation, schema+".") && !value[bool](t, conn, "select to_regclass($1) is not null", relation) {
						continue // not yet
					}
					exec(t, conn, rights+" ON "+table+" TO "+strings.ReplaceAll(to, "app", roles[purpose]))
				}
			}
		}
	}
	upTo := func(schema string, version int64) {
		t.Helper()
		texts := fstest.MapFS{}
		for _, file := range files[:version] {
			text, err := fs.ReadFile(leasesql.Migrations(), file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(text), "leasetop", schema))}
		}
		db := stdlib.OpenDB(*config(t, url))
		defer db.Close()
		exec(t, conn, "create schema "+schema)
		steps, err := goose.NewProvider(goose.DialectPostgres, db, texts, goose.WithTableName(schema+".migrations"), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := steps.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := leasesql.Migrate(t.Context(), config(t, url), "fresh"); err != nil {
		t.Fatal(err)
	}
	grant("fresh")
	for n, file := range files[:len(files)-1] {
		text, err := fs.ReadFile(leasesql.Migrations(), file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "CREATE TABLE") {
			continue // nothing to have rights on comes with this
		}
		schema := fmt.Sprintf("since_%d", n+1)
		upTo(schema, int64(n+1))
		grant(schema)
		if _, err := leasesql.Migrate(t.Context(), config(t, url), schema); err != nil {
			t.Fatal(err)
		}
		for purpose := range purposes {
			fresh := purpose
			if purpose == "operate" && n+1 < 3 {
				fresh = "work" // before there was more to operate on than jobs, the two had the same rights
			}
			got, want := strings.Split(rights(schema, purpose), ", "), strings.Split(rights("fresh", fresh), ", ")
			for _, right := range got {
				if !slices.Contains(want, right) {
					t.Errorf("granted at step %d to %s: has also %s", n+1, purpose, right)
				}
			}
			for _, right := range want {
				if !slices.Contains(got, right) {
					t.Errorf("granted at step %d to %s: lacks %s", n+1, purpose, right)
				}
			}
		}
	}
}

// grantsOf are the README's GRANTs to a role for these purposes.
func grantsOf(t *testing.T, purposes []string) (lines []string) {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, purpose := range purposes {
		found := regexp.MustCompile(`(?m)^(GRANT .+ TO app); +-- `+purpose+`\b`).FindAllStringSubmatch(string(readme), -1)
		if len(found) == 0 {
			t.Fatalf("the README has no GRANT to %s", purpose)
		}
		for _, line := range found {
			lines = append(lines, line[1])
		}
	}
	return lines
}
