package local

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestResolveOrder(t *testing.T) {
	clear := func(t *testing.T) {
		for _, name := range append([]string{"DATABASE_URL", "PGPASSWORD", "PGSSLMODE"}, pgVariables...) {
			t.Setenv(name, "")
		}
	}
	t.Run("flag first", func(t *testing.T) {
		clear(t)
		t.Setenv("DATABASE_URL", "postgres://b/x")
		wantSource(t, "postgres://a/x", Source{URL: "postgres://a/x", From: "--database-url"})
	})
	t.Run("then DATABASE_URL", func(t *testing.T) {
		clear(t)
		t.Setenv("DATABASE_URL", "postgres://b/x")
		t.Setenv("PGHOST", "c")
		wantSource(t, "", Source{URL: "postgres://b/x", From: "DATABASE_URL"})
	})
	t.Run("then libpq's variables", func(t *testing.T) {
		clear(t)
		t.Setenv("PGHOST", "c")
		t.Setenv("PGUSER", "ann")
		wantSource(t, "", Source{URL: "postgres://", From: "PGHOST, PGUSER"})
		config, err := pgx.ParseConfig("postgres://")
		if err != nil || config.Host != "c" || config.User != "ann" {
			t.Errorf("postgres:// means %v, %v, not what the variables say", config, err)
		}
	})
	t.Run("else the private server", func(t *testing.T) {
		clear(t)
		t.Setenv("PGPASSWORD", "secret")
		t.Setenv("PGSSLMODE", "require")
		wantSource(t, "", Source{From: "private server"})
	})
	t.Run("a variable we cannot follow is refused", func(t *testing.T) {
		clear(t)
		t.Setenv("PGHOSTADDR", "10.0.0.1")
		if _, err := Resolve(""); err == nil || !strings.Contains(err.Error(), "PGHOST") {
			t.Errorf("PGHOSTADDR alone gave %v, want an error that names PGHOST", err)
		}
	})
}

func wantSource(t *testing.T, flag string, want Source) {
	t.Helper()
	got, err := Resolve(flag)
	if err != nil || got != want {
		t.Errorf("Resolve(%q) = %+v, %v; want %+v", flag, got, err, want)
	}
	if got.Private() != (want.URL == "") {
		t.Errorf("Private() = %v", got.Private())
	}
}
