package testdb_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestNewDatabasesAreMigratedAndApart(t *testing.T) {
	t.Parallel()
	first, second := testdb.New(t), testdb.New(t)
	exec(t, first, "INSERT INTO leasetop.jobs (queue, payload) VALUES ('emails', '{}')")
	if n := count(t, first, "SELECT count(*) FROM leasetop.jobs"); n != 1 {
		t.Errorf("the database written to holds %d jobs, want 1", n)
	}
	if n := count(t, second, "SELECT count(*) FROM leasetop.jobs"); n != 0 {
		t.Errorf("the other database holds %d jobs, want none", n)
	}
}

func TestEmptyHasNoSchema(t *testing.T) {
	t.Parallel()
	if n := count(t, testdb.Empty(t), "SELECT count(*) FROM pg_namespace WHERE nspname = 'leasetop'"); n != 0 {
		t.Errorf("an empty database has the schema")
	}
}

func TestDatabaseIsDroppedAtTheEnd(t *testing.T) {
	t.Parallel()
	admin := testdb.Empty(t)
	var name string
	t.Run("owner", func(t *testing.T) {
		config, err := pgx.ParseConfig(testdb.New(t))
		if err != nil {
			t.Fatal(err)
		}
		name = config.Database
		if n := count(t, admin, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); n != 1 {
			t.Errorf("database %s is missing while its test runs", name)
		}
	})
	if n := count(t, admin, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); n != 0 {
		t.Errorf("database %s is still there after its test", name)
	}
}

func TestServersAreApartAndTakeSettings(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t, "wal_level=replica")
	if n := count(t, server.URL("postgres"), "SELECT count(*) FROM pg_settings WHERE name = 'wal_level' AND setting = 'replica'"); n != 1 {
		t.Error("wal_level was not set")
	}
	if n := count(t, testdb.On(t, server), "SELECT count(*) FROM leasetop.jobs"); n != 0 {
		t.Errorf("a new database holds %d jobs", n)
	}
}

func exec(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, url, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
