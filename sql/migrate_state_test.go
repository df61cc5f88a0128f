package sql_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// downTo takes steps back until the schema is as an older program made it.
func downTo(t *testing.T, url string, version int) {
	t.Helper()
	for n := applied(t, url); n > version; n-- {
		if _, err := leasesql.MigrateDown(t.Context(), config(t, url), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// as is how a new role connects, which has no right but those that SQL with its name
// for ROLE gives it. A superuser runs that.
func as(t *testing.T, url string, grants ...string) (config_ *pgx.ConnConfig, role string) {
	t.Helper()
	role = fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	admin := connect(t, url)
	exec(t, admin, "create role "+role+" login")
	t.Cleanup(func() {
		for _, sql := range []string{"reassign owned by " + role + " to postgres", "drop owned by " + role, "drop role " + role} {
			if _, err := admin.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	for _, grant := range grants {
		exec(t, admin, strings.ReplaceAll(grant, "ROLE", role))
	}
	config_ = config(t, url)
	config_.User = role
	return config_, role
}

// CASES "Table names and roles": who may not migrate is told which GRANT is missing,
// in one line, before anything is changed; and with it, it works.
func TestMigrateNamesTheMissingGrant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  []string // as superuser, ROLE being who migrates
		version int      // of the schema before
		want    string
		cure    string
	}{
		"no schema, and none may be made": {
			want: "create schema leasetop in database HERE: CREATE SCHEMA leasetop AUTHORIZATION ROLE, or GRANT CREATE ON DATABASE HERE TO ROLE",
			cure: "grant create on database HERE to ROLE",
		},
		"the other cure for that": {
			want: "create schema leasetop in database HERE: CREATE SCHEMA leasetop AUTHORIZATION ROLE, or GRANT CREATE ON DATABASE HERE TO ROLE",
			cure: "create schema leasetop authorization ROLE",
		},
		"an empty schema of somebody else": {
			before: []string{"create schema leasetop"},
			want:   "change schema leasetop: GRANT USAGE, CREATE ON SCHEMA leasetop TO ROLE",
			cure:   "grant usage, create on schema leasetop to ROLE",
		},
		"an older schema of somebody else": {
			version: 3,
			want:    "look which migrations schema leasetop has: GRANT USAGE ON SCHEMA leasetop TO ROLE; GRANT SELECT ON leasetop.migrations TO ROLE",
			cure:    "grant postgres to ROLE",
		},
		"an older schema of somebody else in which it may look": {
			version: 3,
			before:  []string{"grant usage on schema leasetop to ROLE", "grant select on leasetop.migrations to ROLE"},
			want:    "change schema leasetop: GRANT USAGE, CREATE ON SCHEMA leasetop TO ROLE",
			cure:    "grant postgres to ROLE",
		},
		"an older schema of somebody else in which it may make things": {
			version: 3,
			before:  []string{"grant usage, create on schema leasetop to ROLE", "grant select on leasetop.migrations to ROLE"},
			want:    "change schema leasetop: GRANT postgres TO ROLE, or migrate as postgres",
			cure:    "grant postgres to ROLE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.Empty(t)
			if c.version > 0 {
				url = testdb.New(t)
				downTo(t, url, c.version)
			}
			conn := connect(t, url)
			role, name := as(t, url, c.before...)
			filled := strings.NewReplacer("ROLE", name, "HERE", role.Database)
			before := objects(t, conn)
			taken, err := leasesql.Migrate(t.Context(), role, "")
			if want := filled.Replace("the role lacks a right: ROLE may not " + c.want); !errors.Is(err, leasesql.ErrForbidden) || err.Error() != want || len(taken) != 0 {
				t.Errorf("took %v, error %v\nwant %s", taken, err, want)
			}
			if after := objects(t, conn); after != before {
				t.Errorf("there is now %s", after)
			}
			exec(t, conn, filled.Replace(c.cure))
			if _, err := leasesql.Migrate(t.Context(), role, ""); err != nil {
				t.Errorf("after %s: %v", c.cure, err)
			}
			if applied(t, url) < 4 {
				t.Error("not up to date")
			}
		})
	}
}

// Where nothing is missing, every process may call it at its start: the rights to look
// are enough, and a server that takes no writes is.
func TestMigrateOfAnUpToDateSchemaWantsNoRights(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	role, _ := as(t, url, "grant usage on schema leasetop to ROLE", "grant select on leasetop.migrations to ROLE")
	role.RuntimeParams["default_transaction_read_only"] = "on"
	if taken, err := leasesql.Migrate(t.Context(), role, ""); err != nil || len(taken) != 0 {
		t.Errorf("took %v, %v", taken, err)
	}
	if _, err := leasesql.MigrateDown(t.Context(), role, ""); !errors.Is(err, leasesql.ErrForbidden) || !strings.Contains(err.Error(), "migrate as postgres") {
		t.Errorf("down: %v", err)
	}
}

// Role names are text like any other.
func TestMigrateQuotesNamesInGrants(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	admin := connect(t, url)
	name := fmt.Sprintf(`Mañana "user"; -- %08x`, rand.Uint32())
	exec(t, admin, "create role "+pgx.Identifier{name}.Sanitize()+" login")
	t.Cleanup(func() { admin.Exec(context.Background(), "drop role "+pgx.Identifier{name}.Sanitize()) })
	role := config(t, url)
	role.User = name
	if _, err := leasesql.Migrate(t.Context(), role, ""); err == nil || !strings.HasSuffix(err.Error(), " TO "+pgx.Identifier{name}.Sanitize()) {
		t.Errorf("error %v", err)
	}
}

// An older program on the schema of a newer one: nothing to do, and hands off.
func TestStepsOfANewerProgram(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := connect(t, url)
	known := applied(t, url)
	exec(t, conn, "insert into leasetop.migrations (version_id, is_applied) values ($1, true), ($2, true)", known+1, known+2)
	exec(t, conn, "create table leasetop.tomorrow ()")
	before := objects(t, conn)

	if taken, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil || len(taken) != 0 {
		t.Errorf("up took %v, %v", taken, err)
	}
	steps, err := leasesql.MigrationStatus(t.Context(), config(t, url), "")
	if err != nil || len(steps) != known+2 {
		t.Fatalf("status %v, %v", steps, err)
	}
	for i, step := range steps {
		if step.Version <= int64(i) || !step.Applied || (step.File == "") != (i >= known) {
			t.Errorf("step %d: %+v", i, step)
		}
	}
	want := fmt.Sprintf("the schema is newer than this program: schema leasetop is at step %d, and this program knows them up to %d: use the program that took it", known+2, known)
	if _, err := leasesql.MigrateDown(t.Context(), config(t, url), ""); !errors.Is(err, leasesql.ErrNewerStep) || err.Error() != want {
		t.Errorf("down: %v\nwant %s", err, want)
	}
	if after := objects(t, conn); after != before || value[int](t, conn, "select count(*) from leasetop.migrations where version_id > 0") != known+2 {
		t.Errorf("there is now %s", after)
	}
}

// A step left out is no state that any of our programs makes; going on would make it worse.
func TestMigrateRefusesASchemaWithAGap(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	exec(t, connect(t, url), "delete from leasetop.migrations where version_id = 2")
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err == nil || !strings.Contains(err.Error(), "lacks step 2, 00002_signals.sql") {
		t.Errorf("error %v", err)
	}
}

// CASES "Server not UTF-8": refused in our words, with the cure, before anything is made.
func TestMigrateRefusesADatabaseThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"LATIN1", "WIN1252", "SQL_ASCII", "EUC_JP"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			admin := connect(t, testdb.Empty(t))
			name := fmt.Sprintf("test_encoding_%08x", rand.Uint32())
			exec(t, admin, "create database "+name+" template template0 encoding '"+encoding+"' locale 'C'")
			t.Cleanup(func() { admin.Exec(context.Background(), "drop database "+name+" with (force)") })
			there := admin.Config().Copy()
			there.Database = name
			_, err := leasesql.Migrate(t.Context(), there, "")
			want := "the database is not UTF-8: database " + name + " stores text as " + encoding
			if !errors.Is(err, leasesql.ErrEncoding) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "ENCODING 'UTF8'") {
				t.Errorf("error %v", err)
			}
			conn, err := pgx.ConnectConfig(t.Context(), there)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			if left := objects(t, conn); strings.Contains(left, "leasetop") {
				t.Errorf("there is %s", left)
			}
		})
	}
}
