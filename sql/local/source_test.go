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
	t.Run("an address is enough", func(t *testing.T) {
		clear(t)
		t.Setenv("PGHOSTADDR", "10.0.0.1")
		wantSource(t, "", Source{URL: "postgres://", From: "PGHOSTADDR"})
	})
	t.Run("what a file or a shell added is left out", func(t *testing.T) {
		clear(t)
		for _, url := range []string{"postgres://b/x\n", "\r\n postgres://b/x \t", "\u00a0postgres://b/x"} {
			t.Setenv("DATABASE_URL", url)
			wantSource(t, "", Source{URL: "postgres://b/x", From: "DATABASE_URL"})
			wantSource(t, url, Source{URL: "postgres://b/x", From: "--database-url"})
		}
		t.Setenv("DATABASE_URL", " host=b\tpassword=geheim \n")
		wantSource(t, "", Source{URL: " host=b\tpassword=geheim \n", From: "DATABASE_URL"})
	})
	t.Run("each mistake has its cure", func(t *testing.T) {
		clear(t)
		for url, want := range map[string]string{
			"shop":                              "neither a URL nor key=value pairs: write postgres://user@host/database, or dbname=NAME ",
			"host=b password='geheim":           `not shown because it may hold a password. A value with blanks, quotes or backslashes needs quotes: password='it\'s me'`,
			"host=b password=ge heim":           `not shown because it may hold a password. A value with blanks, quotes or backslashes needs quotes: password='it\'s me'`,
			"postgres://ann:ge@heim:5432#1@b/x": "not shown because it may hold a password. Special characters in a password need percent-encoding",
		} {
			t.Setenv("DATABASE_URL", url)
			if _, err := Resolve(""); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%q: %v\nwant %s", url, err, want)
			}
		}
	})
	t.Run("a character that nobody sees is named", func(t *testing.T) {
		clear(t)
		for url, want := range map[string]string{
			"\ufeffpostgres://ann:geheim@b/x":      "DATABASE_URL: not a valid connection string: it holds the character U+FEFF at place 1: leave that out",
			"postgres://ann:geheim@b:5432\u200b/x": "DATABASE_URL: not a valid connection string: it holds the character U+200B at place 29: leave that out",
			"postgres://ann:geheim@b:54\n32/x\n":   "DATABASE_URL: not a valid connection string: it holds the character U+000A at place 27: leave that out",
		} {
			t.Setenv("DATABASE_URL", url)
			if _, err := Resolve(""); err == nil || err.Error() != want {
				t.Errorf("%q: %v\nwant %s", url, err, want)
			}
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
