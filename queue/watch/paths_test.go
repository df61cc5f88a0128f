package watch

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A path that names another schema before pg_catalog is found, whether a role or a database
// sets it. The finding gives the statement that mends it.
func TestPathThatPutsOthersFirstIsFound(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	admin := client(t, url)
	name := pgx.Identifier{"path " + strings.Trim(base(t, admin), `"`)}.Sanitize()
	_, err := admin.Exec(t.Context(), "CREATE ROLE "+name+"; GRANT USAGE ON SCHEMA leasetop TO "+name)
	do(t, err)
	t.Cleanup(func() { admin.Exec(context.Background(), "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	// None of these does.
	for in, path := range map[string]string{"": "app, public", " IN DATABASE " + base(t, admin): "pg_temp, pg_catalog, app"} {
		_, err = admin.Exec(t.Context(), "ALTER ROLE "+name+in+" SET search_path = "+path)
		do(t, err)
	}
	_, err = admin.Exec(t.Context(), "ALTER DATABASE "+base(t, admin)+" SET search_path = my_pg_catalog")
	do(t, err)
	feed := start(t, open(t, url), Options{NoWAL: true})
	if s := examine(t, feed, "paths that are fine", anything); len(s.Health.Paths) > 0 {
		t.Errorf("%+v", s.Health.Paths)
	}
	for _, c := range []struct{ set, path, figure, cure string }{
		{"ALTER ROLE " + name, `app, "$user", pg_catalog, public`, `pg_catalog after app, "$user"`, "ALTER ROLE " + name + " SET search_path without"},
		{"ALTER ROLE " + name + " IN DATABASE " + base(t, admin), `app, "pg_catalog"`, "pg_catalog after app", "ALTER ROLE " + name + " IN DATABASE " + base(t, admin) + " SET"},
		{"ALTER DATABASE " + base(t, admin), "app, pg_temp, pg_catalog", "pg_catalog after app, pg_temp", "ALTER DATABASE " + base(t, admin) + " SET"},
	} {
		_, err := admin.Exec(t.Context(), c.set+" SET search_path = "+c.path)
		do(t, err)
		s := examine(t, feed, "the path", func(c *Checkup) bool { return len(c.Paths) == 1 })
		if f := judged(t, s, "search_path"); f.Grade != Caution || f.Figure != c.figure || !strings.HasPrefix(f.Cure, c.cure) {
			t.Errorf("%s: %+v", c.set, f)
		}
		_, err = admin.Exec(t.Context(), c.set+" RESET search_path")
		do(t, err)
	}
}

func base(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var name string
	do(t, conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&name))
	return pgx.Identifier{name}.Sanitize()
}
