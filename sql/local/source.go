package local

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/sql/connstring"
)

// Source is the database that a program was told to use.
type Source struct {
	// URL is the connection string, as pgx and psql take it. It may hold a
	// password: show Redact(URL). With PG* variables it is "postgres://", which
	// leaves everything to them. Empty for the private server.
	URL string
	// From says who named it: "--database-url", "DATABASE_URL", "PGHOST, PGUSER"
	// or "private server".
	From string
}

// Private reports whether nothing names a database, so that the private server
// is meant.
func (s Source) Private() bool { return s.URL == "" }

// pgVariables are the variables of libpq that say which database is meant.
// PGPASSWORD, PGSSLMODE and others only say how to get there.
var pgVariables = []string{"PGSERVICE", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER"}

// Resolve decides which database is meant: the flag --database-url, else the
// variable DATABASE_URL, else libpq's PG* variables, else the private server.
// The connection string is checked, and errors do not show its password.
func Resolve(flag string) (Source, error) {
	source := Source{From: "private server"}
	switch {
	case flag != "":
		source = Source{URL: flag, From: "--database-url"}
	case os.Getenv("DATABASE_URL") != "":
		source = Source{URL: os.Getenv("DATABASE_URL"), From: "DATABASE_URL"}
	default:
		set := slices.DeleteFunc(slices.Clone(pgVariables), func(name string) bool { return os.Getenv(name) == "" })
		if len(set) > 0 {
			source = Source{URL: "postgres://", From: strings.Join(set, ", ")}
		}
	}
	if source.Private() {
		return source, nil
	}
	if text := strings.TrimSpace(source.URL); isURL(text) {
		source.URL = text // a file or a shell may have added a line's end
	}
	if err := check(source.URL); err != nil {
		if wrong := (*connstring.ValueError)(nil); errors.As(err, &wrong) && wrong.Variable {
			return Source{}, err // the connection string is not its source
		}
		return Source{}, fmt.Errorf("%s: %w", source.From, err)
	}
	return source, nil
}

// check returns an error if pgx does not understand the connection string. pgx
// masks passwords in its own messages as well as it can, and says itself that
// this is not always enough; so its message is shown only when we can tell for
// sure where the password is, and without it.
func check(url string) error {
	if text := strings.TrimSpace(url); strings.Contains(text, "://") && !isURL(text) {
		if odd := oddCharacter(text); odd != "" {
			return fmt.Errorf("not a valid connection string: it holds %s: leave that out", odd)
		}
		return errors.New("the connection string does not begin with postgres:// or postgresql://")
	}
	if err := connstring.Check(url); err != nil {
		return err
	}
	config, err := pgx.ParseConfig(url)
	// A host with an @ in it is the rest of a password that held one unescaped.
	torn := err == nil && (strings.Contains(config.Host, "@") ||
		slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return strings.Contains(f.Host, "@") }))
	if err == nil && !torn {
		return nil
	}
	if odd := oddCharacter(url); odd != "" {
		return fmt.Errorf("not a valid connection string: it holds %s: leave that out", odd)
	}
	if !strings.ContainsAny(url, "=:/@") {
		return errors.New("neither a URL nor key=value pairs: write postgres://user@host/database, or dbname=NAME where only the database's name is meant")
	}
	masked := Redact(url)
	if torn || strings.Contains(masked, hidden) {
		cure := "A value with blanks, quotes or backslashes needs quotes: password='it\\'s me'"
		if isURL(strings.TrimSpace(url)) {
			cure = "Special characters in a password need percent-encoding: # is %23, / is %2F, @ is %40, : is %3A, % is %25"
		}
		return errors.New("not a valid connection string; it is not shown because it may hold a password. " + cure)
	}
	_, err = pgx.ParseConfig(masked)
	if err == nil {
		return errors.New("not a valid connection string: the password in it cannot be read")
	}
	return fmt.Errorf("not a valid connection string: %w", err)
}

// oddCharacter names the first character that nobody sees, and where it is; "" when there is
// none. A file with a byte order mark has one, or a text that was wrapped.
func oddCharacter(url string) string {
	for i, r := range url {
		if unicode.In(r, unicode.Cc, unicode.Cf) || r != ' ' && unicode.IsSpace(r) {
			return fmt.Sprintf("the character %U at place %d", r, 1+utf8.RuneCountInString(url[:i]))
		}
	}
	return ""
}
