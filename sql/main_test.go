package sql_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// migrateInstead names the database that this binary migrates instead of testing
// anything: a process of its own that can be killed.
const migrateInstead = "LEASETOP_TEST_MIGRATE"

func TestMain(m *testing.M) {
	if url := os.Getenv(migrateInstead); url != "" {
		os.Exit(migrateAsAProcess(url))
	}
	testdb.Main(m)
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// config is how to connect to the database at url.
func config(t testing.TB, url string) *pgx.ConnConfig {
	t.Helper()
	parsed, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func exec(t testing.TB, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
}

func value[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	return v
}

// code is the SQLSTATE of an error, "" without one.
func code(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
